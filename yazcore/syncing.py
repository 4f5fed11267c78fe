"""`yaz manifest sync`: a plugin is run, asked what it contributes, and its manifest's file made to declare that.

For authors and CI (design 4). As with `yaz check`, the plugin is imported, made and asked in this process, in the
trusted runtime and with all of this user's rights (`onload` is left out).
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from yazcore.asking import NotAsked, registered
from yazcore.check import importable, read_package, source_of
from yazcore.contract import Contract
from yazcore.differences import differences
from yazcore.manifest.checking import check_reading
from yazcore.manifest.discovery import FILE_NAME, builtin
from yazcore.manifest.reading import Reading, read, read_found
from yazcore.manifest.structure import structure
from yazcore.manifest.sync import Change, bare, obstacles, sync
from yazcore.violations import Difference, Violation, YazError, errors


@attrs.frozen(kw_only=True)
class SyncReport:
    """What syncing did, or would do.

    * `asked`: whether the plugin could be asked at all; if not, `violations` say why, and nothing was done.
    * `before`, `after`: the manifest's text.
    * `written`: whether the file has the text `after` because of this run.
    * `violations`, `differences`: what is wrong with `after`, for the author to mend.
    * `trace`: the traceback of a plugin that could not be started, for its author's terminal only.
    """

    asked: bool = False
    before: str = ""
    after: str = ""
    changes: tuple[Change, ...] = ()
    written: bool = False
    violations: tuple[Violation, ...] = ()
    differences: tuple[Difference, ...] = ()
    trace: str = ""

    @property
    def refuses(self) -> bool:
        """Whether a host would refuse the plugin with the text `after`."""
        return bool(errors(self.violations) or self.differences)

    @property
    def diff(self) -> tuple[str, ...]:
        """The lines of a unified diff from `before` to `after`."""
        before, after = (text.replace("\r\n", "\n").split("\n") for text in (self.before, self.after))
        names = (f"{FILE_NAME} as it is", f"{FILE_NAME} as the code has it")
        return tuple(difflib.unified_diff(before, after, *names, lineterm=""))

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "asked": self.asked,
            "written": self.written,
            "changes": [change.as_json() for change in self.changes],
            "diff": list(self.diff),
            "violations": [violation.as_json() for violation in self.violations],
            "differences": [difference.as_json() for difference in self.differences],
        }


def sync_folder(
    folder: Path, contract: Contract, *, shipped: Sequence[Path] = (), prune: bool = False, write: bool = True
) -> SyncReport:
    """Make the manifest of the plugin in a folder declare what its hooks register.

    * `folder`: a package with a manifest, or a project that holds one such package.
    * `shipped`: the packages that come with the host application; their ids are reserved for them.
    * `prune`: take out what is declared and not registered; without it, that is reported as a difference.
    * `write`: change the file, as a whole or not at all.

    Nothing runs where the manifest has `obstacles`. Raises `YazError` as `source_of` and `sync` do, and `sync-changed`
    where the file was changed while the plugin ran.
    """
    if not folder.is_dir():
        raise YazError("target-unknown", f"there is no folder {str(folder)!r}", "give a plugin's folder")
    package = source_of(folder).package
    if package in {path.resolve() for path in shipped}:  # its module is a part of the host: nothing is put on the path
        return _synced(package, read_found(builtin(package), contract), contract, True, prune, write)
    with importable(package):
        return _synced(package, read_package(package, contract), contract, False, prune, write)


def _synced(package: Path, reading: Reading, contract: Contract, own: bool, prune: bool, write: bool) -> SyncReport:
    if (found := obstacles(reading, contract)) or reading.text is None:
        return SyncReport(violations=found)
    home = None if own else package.name  # a shipped plugin lies somewhere in the host's own package
    started = read(json.dumps(bare(reading.document, contract)).encode(), contract, own=own, package=home)
    if started.manifest is None:
        return SyncReport(violations=started.violations)
    try:
        contributed = registered(started.manifest, package, contract)
    except NotAsked as problem:
        return SyncReport(violations=problem.violations, trace=problem.trace)
    synced = sync(reading.text, contributed, contract, prune=prune)
    after = read(synced.text.encode(), contract, own=own, package=home)
    draft, _ = structure(after.document, contract)
    assert draft is not None, "sync makes no other kind of document"
    if write and synced.changes:
        _replace(package / FILE_NAME, reading.text.encode(), synced.text.encode())
    return SyncReport(
        asked=True,
        before=reading.text,
        after=synced.text,
        changes=synced.changes,
        written=bool(write and synced.changes),
        violations=check_reading(after, package),
        differences=differences(draft, contract, contributed),
    )


def _replace(file: Path, before: bytes, after: bytes) -> None:
    """Put the new bytes in the place of the old, whole or not at all; a link stays one, and so does who may read it."""
    file = file.resolve()
    descriptor, temporary = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".tmp", dir=file.parent)
    try:
        with open(descriptor, "wb") as opened:
            opened.write(after)
            opened.flush()
            os.fsync(opened.fileno())
        os.chmod(temporary, file.stat().st_mode & 0o7777)
        if file.read_bytes() != before:
            raise YazError("sync-changed", f"{file.name} was changed meanwhile; nothing was written", "sync again")
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
