"""What the host has installed, read from metadata alone: versions, what a worker uses of it, what a plugin still lacks.

A plugin's own folder stands before everything that the host has installed on the path of its worker. So what the worker
itself is made of must not be in there a second time, in this version or another (design 5; trials 10).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from yazcore.manifest.distributions import MOST_RECORD_BYTES, Broken, Distribution, normalized, scan
from yazcore.manifest.metadata import core_metadata

HOST = "yazcore"
"""The distribution that this framework is."""

WORKER = (HOST, "anyio", "attrs", "msgspec", "pluggy")
"""The distributions that a worker imports before any code of a plugin; what they require, it imports as well."""

_MODULE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(\.[^/]+)?\.(py|so|pyd)")


@attrs.frozen
class Package:
    """One installed distribution: its version and what it requires (`Requires-Dist`)."""

    name: str
    version: str
    requires: tuple[str, ...]
    distribution: Distribution


@attrs.frozen
class Environment:
    """What is installed on a path, by normalized name; of two with one name the first counts, as Python has it."""

    packages: Mapping[str, Package]

    def version(self, name: str) -> str | None:
        """The version of a distribution, None where it is not installed."""
        package = self.packages.get(normalized(name))
        return None if package is None else package.version


def environment(path: Sequence[str]) -> Environment:
    """Read what is installed on a path. Broken metadata counts for nothing. Never raises."""
    packages: dict[str, Package] = {}
    for one in scan(path):
        if one.name in packages or (headers := one.headers()) is None:
            continue
        packages[one.name] = Package(one.name, headers[1], _requires(one), one)
    return Environment(packages)


def _requires(distribution: Distribution) -> tuple[str, ...]:
    try:
        text = distribution.read("PKG-INFO" if distribution.is_egg else "METADATA", MOST_RECORD_BYTES) or ""
    except Broken:
        return ()
    return core_metadata(text.encode()).requires


def pins(host: Environment) -> dict[str, str]:
    """Name and version of everything that a worker is made of; empty where the framework itself is not installed."""
    if HOST not in host.packages:
        return {}
    found: dict[str, str] = {HOST: host.packages[HOST].version}
    waiting = [name for name in WORKER if name != HOST]
    while waiting:
        package = host.packages.get(waiting.pop())
        if package is not None and package.name not in found:
            found[package.name] = package.version
            waiting += [normalized(one.name) for one in requirements(package.requires)]
    return dict(sorted(found.items()))


def requirements(texts: Iterable[str], extras: Iterable[str] = ()) -> Iterator[Requirement]:
    """The requirements among some texts that count here and now, for these extras; what is none is left out."""
    chosen = ("", *extras)
    for text in texts:
        try:
            one = Requirement(text)
        except InvalidRequirement:
            continue
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in chosen):
            yield one


def fits(requirement: Requirement, version: str) -> bool:
    """Whether a version is one that a requirement takes."""
    try:
        return requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False


@attrs.frozen
class Lack:
    """A requirement that nothing meets: who has it, and the version that is there instead, if any."""

    needed_by: str
    requirement: str
    there: str | None


def lacks(plugin: str, own: Environment, host: Environment) -> tuple[Lack, ...]:
    """What a distribution, and everything beside it in its own folder that it requires, still lack.

    Its own folder counts before the host. What the host's packages lack is the host's affair.
    """
    found: list[Lack] = []
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting: list[tuple[str, frozenset[str]]] = [(normalized(plugin), frozenset())]
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        package = own.packages.get(name)
        if package is None:
            continue
        for one in requirements(package.requires, extras):
            needed = normalized(one.name)
            met = own.packages.get(needed) or host.packages.get(needed)
            if met is None or not fits(one, met.version):
                text = f"{one.name}{one.specifier}"
                found.append(Lack(name, text, None if met is None else met.version))
            else:
                waiting.append((needed, frozenset(one.extras)))
    return tuple(dict.fromkeys(found))


def modules(package: Package) -> frozenset[str]:
    """The top-level modules and packages that a distribution brings, as far as its RECORD lists them."""
    try:
        files = package.distribution.files() or []
    except Broken:
        files = []
    known = {HOST} if package.name == HOST else set()
    return frozenset(known.union(filter(None, map(top_module, files))))


def shadowed(names: Iterable[str], host: Environment) -> list[str]:
    """Of what a worker is made of, the modules that files and folders (with a slash) before it would hide."""
    own = frozenset[str]().union(*(modules(host.packages[name]) for name in pins(host)))
    return sorted(own & {top_module(name) for name in names})


def top_module(file: str) -> str | None:
    """The top-level module that a file, relative to a folder of the path, is or belongs to."""
    top, slash, _ = file.partition("/")
    if slash:
        return top if top.isidentifier() and top != "__pycache__" else None
    found = _MODULE.fullmatch(top)
    return found["name"] if found is not None else None
