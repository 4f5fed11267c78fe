"""What a manifest declares against what the hooks registered: every disagreement, in both directions (ADR 0022, S-19).

Pure: data in, differences out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from yazcore.contract import Contract
from yazcore.contributions import ContributionKind
from yazcore.manifest.model import Manifest
from yazcore.runtimes.values import class_of
from yazcore.violations import Difference


class WrongReturn(ValueError):
    """A collecting hook returned something that is no list of its registrations; the text says what."""


def registrations(contract: Contract, returned: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """What the hooks returned (by hook name), sorted into contribution kinds (by key).

    pluggy is asked per plugin, so each value is a list with one return per implementation. Raises `WrongReturn`.
    """
    sorted_out = {}
    for kind in contract.contribution_kinds:
        collected: list[Any] = []
        for value in returned.get(kind.hook, ()):
            if value is None:
                continue
            if type(value) not in (list, tuple):  # a subclass would run its own code here
                raise WrongReturn(f"{kind.hook} returned a {class_of(value)}; it must return a list")
            for item in value:
                if type(item) is not kind.registration:
                    raise WrongReturn(
                        f"{kind.hook} returned a list with a {class_of(item)}; "
                        f"it must hold {kind.registration.__name__} objects only"
                    )
                if fault := _unusable(kind, item):
                    raise WrongReturn(f"{kind.hook} returned {fault}")
            collected += value
        sorted_out[kind.key] = tuple(collected)
    return sorted_out


def differences(
    manifest: Manifest, contract: Contract, registered: Mapping[str, Sequence[Any]]
) -> tuple[Difference, ...]:
    """Every disagreement between the manifest and the registrations, by kind and then by name."""
    found: list[Difference] = []
    for kind in contract.contribution_kinds:
        found += _of_kind(kind, manifest.provides.of(kind.key), registered.get(kind.key, ()))
    return tuple(found)


def _of_kind(kind: ContributionKind, declared: Sequence[Any], registered: Sequence[Any]) -> list[Difference]:
    by_name = {kind.declared_name(one): one for one in declared}
    names = [kind.registered_name(one) for one in registered]
    once = dict(zip(names, registered, strict=True))
    found = []
    for name in sorted({*by_name, *once}):
        if name not in by_name:
            found.append(
                Difference(
                    kind.key, name, "undeclared",
                    f"{kind.hook} registered {name!r}, which the manifest does not declare; "
                    f"it declares {_list(by_name)}",
                    f"declare {name!r} under provides.{kind.key}, or do not register it",
                    declared=None, registered=name,
                )
            )  # fmt: skip
        elif name not in once:
            found.append(
                Difference(
                    kind.key, name, "missing",
                    f"the manifest declares {name!r}, which {kind.hook} did not register; it registered {_list(once)}",
                    f"register {name!r} in {kind.hook}, or take it out of provides.{kind.key}",
                    declared=name, registered=None,
                )
            )  # fmt: skip
        else:
            found += [
                Difference(
                    kind.key, name, "changed",
                    f"{name!r} was registered with another {field} than the manifest declares",
                    f"make {field} equal in both, or leave it out of the registration",
                    declared=was, registered=now,
                )
                for field, was, now in kind.compare(by_name[name], once[name])
            ]  # fmt: skip
    found += [
        Difference(
            kind.key, name, "duplicate",
            f"{kind.hook} registered {name!r} {count} times", "register each name once",
            declared=name if name in by_name else None, registered=name,
        )
        for name, count in sorted(Counter(names).items())
        if count > 1
    ]  # fmt: skip
    return found


def _unusable(kind: ContributionKind, item: Any) -> str | None:
    name = kind.registered_name(item)
    if not name or name == "None":
        return f"a {kind.registration.__name__} without a name"
    first = kind.handlers[0]
    if not callable(getattr(item, first)):
        return f"{kind.registration.__name__} {name!r}, whose {first} cannot be called"
    return None


def _list(names: Mapping[str, Any]) -> str:
    return ", ".join(sorted(names)) or "nothing"
