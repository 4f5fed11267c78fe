"""What a person may name instead of an installed plugin: a wheel, an sdist, a folder, an installed name (design 9).

One `Target` for all of them, with everything that can be said without running anything of it: preview, install,
comparison and registry start from it.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from yazcore.contract import Contract
from yazcore.manifest.comparison import Comparison, compare
from yazcore.manifest.looking import Around, Kind, Target
from yazcore.manifest.model import Manifest
from yazcore.manifest.origins import Origin
from yazcore.manifest.packed import open_archive
from yazcore.manifest.unpacked import open_folder, open_installed
from yazcore.manifest.words import quoted
from yazcore.violations import YazError

__all__ = ["Kind", "Origin", "Target", "compare_targets", "open_target"]


def open_target(
    target: str | Path,
    contract: Contract,
    *,
    extra: Sequence[Path] = (),
    shipped: Sequence[Path] = (),
    path: Sequence[str] | None = None,
) -> Target:
    """Look at one plugin, without running anything of it.

    * `target`: a wheel (`.whl`), an sdist (`.tar.gz`), a folder (a package with a manifest, or a project that holds
      one such package), else the id or the distribution of an installed plugin, or the id of a shipped one.
    * `extra`: folders that are searched after the path: those that plugins were installed into, each its own.
    * `shipped`: the packages that come with the host application.
    * `path`: where installed distributions are looked for; None for `sys.path`.

    Raises `YazError` for what is no target: `target-unknown`, `target-kind`, `target-without-manifest`,
    `target-ambiguous`, `target-without-metadata`, `target-too-many-files`, `target-too-deep`, and what
    `archives.opened` raises.
    """
    name = os.fspath(target)
    around = Around(contract, [*(sys.path if path is None else path), *map(str, extra)])
    mode = _mode(name)
    if stat.S_ISDIR(mode):
        return open_folder(Path(name), name, around, shipped)
    if mode:
        return open_archive(Path(name), name, around)
    if isinstance(target, Path) or not name or "/" in name or os.sep in name or name.endswith((".whl", ".tar.gz")):
        fix = "give a wheel, an sdist, a folder, or the name of an installed plugin"
        raise YazError("target-unknown", f"there is no file or folder {name!r}", fix)
    return open_installed(name, around, shipped)


def compare_targets(old: Target, new: Target) -> Comparison:
    """How one version of a plugin differs from another (`comparison.compare`), its Python requirements included.

    Raises `YazError` `target-refused` where a manifest breaks a rule, `target-other-plugin` where they are two plugins.
    """
    before, after = _manifest(old), _manifest(new)
    if before.id != after.id:
        raise YazError(
            "target-other-plugin", f"{quoted(before.id)} and {quoted(after.id)} are two plugins",
            "give two versions of one plugin",
        )  # fmt: skip
    return compare(before, after, old.texts, new.texts, old_requires=old.requires, new_requires=new.requires)


def _manifest(target: Target) -> Manifest:
    if target.reading.manifest is None:
        raise YazError(
            "target-refused", f"the manifest of {quoted(target.name)} breaks rules, so nothing compares with it",
            "yaz preview lists what is wrong",
        )  # fmt: skip
    return target.reading.manifest


def _mode(name: str) -> int:
    try:
        return os.stat(name).st_mode
    except (OSError, ValueError):  # nothing is there, or nothing can have that name
        return 0
