"""Making the document from wheels and from what is installed. What cannot be accepted is left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import attrs

from yazcore.contract import Contract
from yazcore.design_rules.plugins import counts_of
from yazcore.manifest.digests import canonical
from yazcore.manifest.discovery import discover
from yazcore.manifest.looking import Around, Target
from yazcore.manifest.model import Manifest
from yazcore.manifest.packed import open_archive
from yazcore.manifest.targets import compare_targets, open_target
from yazcore.manifest.words import quoted
from yazcore.registry.document import Asked, Changed, Diff, LeftOut, Plugin, Registry, Version, Wheel, Wrong
from yazcore.violations import YazError, errors


@attrs.frozen
class _Found:
    """One version of a plugin where it was found; without a wheel it is installed."""

    name: str
    target: Target
    manifest: Manifest
    wheel: Wheel | None = None


def build(
    contract: Contract,
    folder: Path | None = None,
    *,
    installed: Sequence[str] | None = None,
    extra: Sequence[Path] = (),
) -> Registry:
    """Look at every wheel below a folder, and at what is installed on a path; each of them where it is given.

    `extra`: folders that plugins were installed into, each its own.

    Never raises for anything that a wheel holds. Two wheels of one version are that version where they say the same;
    else the second by name is left out, as `registry-version-twice`. Raises `YazError` `registry-folder` where there
    is no such folder.
    """
    seen = [*(_in_folder(folder, contract) if folder is not None else ())]
    for path in (*([] if installed is None else [installed]), *([str(one)] for one in extra)):
        seen += _installed(path, contract)
    left_out = [one for one in seen if isinstance(one, LeftOut)]
    by_id: dict[str, list[_Found]] = {}
    for one in seen:
        if isinstance(one, _Found):
            by_id.setdefault(one.manifest.id, []).append(one)
    plugins = []
    for plugin_id in sorted(by_id):
        versions, others = _versions(by_id[plugin_id])
        plugins.append(_plugin(versions, contract))
        left_out += others
    return Registry(
        host=contract.host, contract=contract.number, plugins=tuple(plugins),
        left_out=tuple(sorted(left_out, key=lambda one: one.name)),
    )  # fmt: skip


# -- looking ---------------------------------------------------------------------------------------------------------


def _in_folder(folder: Path, contract: Contract) -> Iterator[_Found | LeftOut]:
    if not folder.is_dir():
        raise YazError("registry-folder", f"there is no folder {quoted(str(folder))}", "give the folder of the wheels")
    around = Around(contract, [])  # whatever is installed on this machine says nothing of a wheel
    for path in sorted(folder.rglob("*.whl"), key=lambda one: one.relative_to(folder).as_posix()):
        name = path.relative_to(folder).as_posix()
        try:
            found = open_archive(path, name, around)
            wheel = _wheel(path, name)
        except YazError as error:
            yield LeftOut(name=name, faults=(Wrong(code=error.code, message=error.message, fix=error.fix),))
        except OSError as error:
            yield LeftOut(name=name, faults=(_unreadable(error),))
        else:
            yield _judged(name, found, wheel)


def _wheel(path: Path, name: str) -> Wheel:
    with path.open("rb") as file:  # a regular file, of a bounded size: it was opened as an archive
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Wheel(name=name, size=file.tell(), sha256=digest)


def _unreadable(error: OSError) -> Wrong:
    message = f"it cannot be read: {error.strerror}"
    return Wrong(code="registry-unreadable", message=message, fix="give the right to read it, or take it away")


def _installed(path: Sequence[str], contract: Contract) -> Iterator[_Found | LeftOut]:
    found, skipped = discover(contract, path)
    for one in skipped:
        yield LeftOut(name=one.distribution, faults=(Wrong(code=one.code, message=one.message, fix=one.fix),))
    for plugin in found:
        yield _judged(plugin.distribution or plugin.id, open_target(plugin.id, contract, path=path))


def _judged(name: str, target: Target, wheel: Wheel | None = None) -> _Found | LeftOut:
    manifest, broken = target.reading.manifest, errors(target.violations)
    if manifest is None or broken:
        faults = tuple(Wrong(code=one.code, message=one.message, fix=one.fix) for one in broken)
        return LeftOut(name=name, faults=faults)
    return _Found(name, target, manifest, wheel)


# -- telling ---------------------------------------------------------------------------------------------------------


def _versions(found: Iterable[_Found]) -> tuple[list[list[_Found]], list[LeftOut]]:
    """What was found of one plugin, by version, the oldest first; and what says something else of the same version."""
    from packaging.version import Version as Number

    by_number: dict[Number, list[_Found]] = {}
    left_out = []
    for one in found:
        same = by_number.setdefault(Number(one.manifest.version), [])
        if same and _said(same[0]) != _said(one):
            left_out.append(LeftOut(name=one.name, faults=(_twice(same[0], one),)))
        else:
            same.append(one)
    return [by_number[number] for number in sorted(by_number)], left_out


def _said(one: _Found) -> str:
    return canonical([one.target.reading.document, one.target.texts])


def _twice(first: _Found, second: _Found) -> Wrong:
    return Wrong(
        code="registry-version-twice",
        message=f"{quoted(first.name)} is version {second.manifest.version}, too, and says something else",
        fix="give one of them another version",
    )


def _plugin(versions: list[list[_Found]], contract: Contract) -> Plugin:
    newest = versions[-1][0].manifest
    return Plugin(
        id=newest.id, name=newest.name, author=newest.author, description=newest.description, latest=newest.version,
        versions=tuple(_version(same, contract) for same in versions),
        diffs=tuple(_diff(old[0], new[0]) for old, new in pairwise(versions)),
    )  # fmt: skip


def _version(same: list[_Found], contract: Contract) -> Version:
    first = same[0]
    target, shown = first.target, first.target.as_json()
    return Version(
        version=first.manifest.version,
        distribution=target.distribution or "",
        wheels=tuple(one.wheel for one in same if one.wheel is not None),
        asks=tuple(
            Asked(kind=one.kind, sentence=one.sentence(), sensitive=one.sensitive, optional=one.optional)
            for one in sorted(first.manifest.capabilities, key=lambda one: not one.sensitive)
        ),
        manifest=shown["manifest"],
        texts=target.texts,
        digests=target.digests,
        findings=counts_of(target, contract),
        requires=target.requires,
        files=target.files,
        violations=target.violations,
    )


def _diff(old: _Found, new: _Found) -> Diff:
    found = compare_targets(old.target, new.target)
    return Diff(
        old=old.manifest.version, new=new.manifest.version, verdict=found.verdict, needs_consent=found.needs_consent,
        changes=tuple(Changed(**change.as_json()) for change in found.changes),
    )  # fmt: skip
