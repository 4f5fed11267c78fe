"""A small thesis in Typst, for the demonstration and for tests: several files, real prose, one mistake to find.

The mistake is in `chapters/results.typ`: a variable is misspelt. The compiler says where; `MISTAKE` and `MENDED` are
the passage before and after.
"""

from __future__ import annotations

import shutil
from pathlib import Path

FOLDER = Path(__file__).with_name("thesis")
"""The thesis as it is shipped."""

MISTAKE = "#avrage"
"""What stands in `chapters/results.typ`."""

MENDED = "#average"
"""What should stand there."""


def copy_sample(folder: Path) -> Path:
    """Copy the thesis to the new folder `folder`, with its one mistake; gives the folder.

    Raises `FileExistsError` where something is there already.
    """
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    return folder
