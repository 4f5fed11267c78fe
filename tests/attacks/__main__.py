"""`python -m tests.attacks [NAME...]`: try every attack in both runtimes, print the table; status 1 for a surprise."""

from __future__ import annotations

import sys
import warnings

from tests.attacks.beyond.table import print_table

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # what attacks leave unclosed is theirs
    sys.exit(print_table(sys.argv[1:]))
