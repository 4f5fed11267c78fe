"""Where a Typst project begins."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from yazcore.writing.plugins.typst.outline import resolve

NAMES = ("main", "thesis", "dissertation", "paper", "article", "report", "book", "document", "index")
"""Names that say it, the plainest first."""

_MOST_LOOKED_AT = 200
_REFERENCE = re.compile(r"\b(?:include|import)\s*\(?\s*\"((?:[^\"\\\n]|\\.)*)\"")


def find_entry(names: Sequence[str], read: Callable[[str], str | None]) -> str | None:
    """The entry among the documents of a folder, or None: by its name, as the only one, or by what it draws together.

    Documents nearer to the top come first. `read` gives a document's text, or None where it cannot be had; it is only
    asked where the names do not decide.
    """
    sources = [name for name in names if name.lower().endswith(".typ")]
    if not sources:
        return None
    top = min(name.count("/") for name in sources)
    nearest = sorted(name for name in sources if name.count("/") == top)
    for wanted in NAMES:
        for name in nearest:
            if posixpath.basename(name).lower() == f"{wanted}.typ":
                return name
    if len(nearest) == 1:
        return nearest[0]
    drawn_in: set[str] = set()
    draws: dict[str, int] = {}
    for name in nearest[:_MOST_LOOKED_AT]:
        targets = {resolve(name, one) for one in _REFERENCE.findall(read(name) or "")} & set(sources)
        draws[name] = len(targets)
        drawn_in |= targets - {name}
    heads = [name for name in draws if name not in drawn_in] or list(draws)
    return min(heads, key=lambda name: (-draws[name], name))
