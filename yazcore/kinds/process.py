"""`process`: commands that the host runs for a plugin, each named exactly (Y-18)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import attrs

from yazcore.kinds.base import Capability, Request, TargetFault, has_wildcard, some_of, text_faults, whole_text

_COMMAND = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_LONGEST = 64


@attrs.frozen(kw_only=True)
class ProcessRequest(Request):
    """Running the command of that name."""

    command: str
    kinds: tuple[str, ...] = ("process",)
    target: str = attrs.field(default=attrs.Factory(lambda self: self.command, takes_self=True))


@attrs.frozen(kw_only=True)
class Process(Capability):
    """Run the commands named: bare names, which the host resolves at consent, never a path."""

    kind: ClassVar[str] = "process"
    service: ClassVar[str] = "processes"
    sensitive: ClassVar[bool] = True
    schema_keywords: ClassVar[Mapping[str, Mapping[str, Any]]] = {"commands": some_of(whole_text(_COMMAND, _LONGEST))}

    commands: tuple[str, ...]

    def targets(self) -> dict[str, Any]:
        """The commands, sorted."""
        return {"commands": sorted(set(self.commands))}

    def faults(self) -> Iterator[TargetFault]:
        """Wildcards, empty names, anything but a bare name."""
        yield from text_faults(self.commands, "commands", "command")
        for index, command in enumerate(self.commands):
            if command.strip() and not has_wildcard(command) and not _is_bare(command):
                yield TargetFault(
                    "capability-command", f"{command!r} is not a bare command name",
                    "give the name alone, without a path or arguments, as in latexmk", ("commands", index),
                )  # fmt: skip

    def covers(self, request: Request) -> bool:
        """Whether the request names one of these commands, exactly: `/usr/bin/latexmk` is not `latexmk`."""
        return isinstance(request, ProcessRequest) and _is_bare(request.command) and request.command in self.commands

    def within(self, other: Capability) -> bool:
        """Whether `other` names them all."""
        return isinstance(other, Process) and set(self.commands) <= set(other.commands)

    def sentence(self) -> str:
        """What people read: a command can start others, which a list of names cannot show."""
        return f"run {', '.join(self.targets()['commands'])}, which can run any program inside the same limits"


def _is_bare(text: str) -> bool:
    return len(text) <= _LONGEST and _COMMAND.fullmatch(text) is not None
