"""`credential`: secrets that the host keeps and spends for a plugin, which never sees them (design 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import attrs

from yazcore.kinds.base import Capability, Request, TargetFault, has_wildcard, some_of, text_faults, whole_text

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_LONGEST = 64


@attrs.frozen(kw_only=True)
class CredentialRequest(Request):
    """Spending, or with `change` keeping or forgetting, the secret of that name.

    Spending needs the `net` capability for the host as well, which is a request of its own (Y-20).
    """

    name: str
    change: bool = False
    kinds: tuple[str, ...] = ("credential",)
    target: str = attrs.field(default=attrs.Factory(lambda self: self.name, takes_self=True))


@attrs.frozen(kw_only=True)
class Credential(Capability):
    """Keep and spend secrets under the names given."""

    kind: ClassVar[str] = "credential"
    service: ClassVar[str] = "credentials"
    sensitive: ClassVar[bool] = True
    schema_keywords: ClassVar[Mapping[str, Mapping[str, Any]]] = {"names": some_of(whole_text(_NAME, _LONGEST))}

    names: tuple[str, ...]

    def targets(self) -> dict[str, Any]:
        """The names, sorted."""
        return {"names": sorted(set(self.names))}

    def faults(self) -> Iterator[TargetFault]:
        """Wildcards, empty names, names of another form."""
        yield from text_faults(self.names, "names", "credential")
        for index, name in enumerate(self.names):
            if name.strip() and not has_wildcard(name) and not _is_name(name):
                yield TargetFault(
                    "capability-credential", f"{name!r} is not a credential name",
                    f"use small letters, digits, - and _, at most {_LONGEST}, as in api-key", ("names", index),
                )  # fmt: skip

    def covers(self, request: Request) -> bool:
        """Whether the request is about one of these names, exactly."""
        return isinstance(request, CredentialRequest) and _is_name(request.name) and request.name in self.names

    def reads(self, request: Request) -> bool:
        """Spending a secret changes none; what it is spent on is judged by `net`."""
        return isinstance(request, CredentialRequest) and not request.change

    def within(self, other: Capability) -> bool:
        """Whether `other` names them all."""
        return isinstance(other, Credential) and set(self.names) <= set(other.names)

    def sentence(self) -> str:
        """What people read."""
        return f"keep and use, without seeing them, the secrets {', '.join(self.targets()['names'])}"


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST and _NAME.fullmatch(text) is not None
