"""What yaz accepts of a plugin (design 4). Light to import: listing plugins needs nothing else of this package."""

from __future__ import annotations

from pathlib import Path

from yazcore import GLOBAL, PROJECT, RESERVED, Contract, __version__

FOLDER = Path(__file__).parent
"""Where the manifest of yaz's own plugin lies."""

SHIPPED = (FOLDER / "plugins" / "typst",)
"""The folders of the plugins that ship with yaz."""

SHIPPED_IDS = frozenset({"typst", "latex", "markdown"})
"""Ids of the plugins that ship with yaz, or will: nobody else may have them (design 4)."""

YAZ = Contract(
    number=1,
    group="yaz.manifest",
    prefix="yaz-plugin-",
    host="yaz",
    version=__version__,
    reserved=RESERVED | SHIPPED_IDS,
    everyone=frozenset({"yaz:look"}),
    scope_kinds=(GLOBAL, PROJECT),
)
"""Contract 1 of yaz: the entry-point group `yaz.manifest`, distributions named `yaz-plugin-<id>`, scopes `global` and
`project`."""
