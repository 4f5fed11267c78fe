"""Which format a document belongs to, and asking a format something: what it answers is checked before it counts.

A format is a plugin's. It may crash, hang or answer nonsense; then that is an error which names the plugin and its
version, and every other format goes on (design 8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar

import attrs
import msgspec

from yazcore import YazError
from yazcore.writing.projects.paths import document_path
from yazcore.writing.projects.tree import extension

T = TypeVar("T")

FORMAT_SECONDS = 20.0
"""How long one function of a format may take."""


@attrs.frozen(kw_only=True)
class Folder:
    """A folder of a project as services need it, before its entry is known: identity, name, place."""

    id: str
    name: str
    root: Path


@attrs.frozen(kw_only=True)
class Claim:
    """One format of one active plugin, and the extensions it claims (lower case, with dot)."""

    plugin: str
    version: str
    id: str
    extensions: tuple[str, ...]


class FormatPort(Protocol):
    """The way to the formats of active plugins; the application makes it from its `Host`."""

    def claims(self) -> Sequence[Claim]:
        """Every active format: those of shipped plugins first."""

    def may_read(self, plugin: str, path: str) -> bool:
        """Whether the plugin's granted `fs-project` covers reading that document."""

    def refused(self, plugin: str, path: str, where: str) -> str:
        """Have it recorded that the plugin may not read that document, which `where` needed; which capability, why."""

    def call(self, claim: Claim, function: str, folder: Folder, argument: Any, seconds: float) -> Any:
        """Run one function of a format for a project. Raises whatever it raised, or `TimeoutError`."""


class FormatFault(YazError):
    """A format did not do what formats do. The message names the format, its plugin and version."""

    def __init__(self, claim: Claim, function: str, problem: str) -> None:
        super().__init__(
            "format-failed",
            f"the format {claim.id!r} of the plugin {claim.plugin} {claim.version} failed in {function}: {problem}",
            f"report it to the author of {claim.plugin}; documents of other formats are not affected",
        )


_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
_Position = Annotated[int, msgspec.Meta(ge=1)]


class RawNode(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One outline node as a format gives it. `level` and `line` count from 1; `file` is a document of the project."""

    title: str
    level: Annotated[int, msgspec.Meta(ge=1, le=100)]
    kind: _Name
    file: str
    line: _Position
    label: str | None = None


class RawRelated(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Another place that belongs to a diagnostic: a call on the way to it."""

    message: str
    file: str | None = None
    line: _Position | None = None


class RawDiagnostic(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One diagnostic as a format gives it; `line` and `column` (in code points) count from 1."""

    severity: Literal["error", "warning", "info", "hint"]
    code: _Name
    message: str
    file: str | None = None
    line: _Position | None = None
    column: _Position | None = None
    hints: list[str] = []
    related: list[RawRelated] = []


class RawPlan(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a format wants run: an engine that the host registered, and what it is given."""

    engine: _Name
    arguments: dict[str, str]


class _Collected(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    diagnostics: list[RawDiagnostic]


class Formats:
    """The formats of one application. Safe from any thread; asks the port anew each time, so nothing is stale."""

    def __init__(self, port: FormatPort) -> None:
        self._port = port

    def claimed(self) -> dict[str, Claim]:
        """Each extension with the format that has it: the first claim wins, and shipped plugins come first."""
        claimed: dict[str, Claim] = {}
        for claim in self._port.claims():
            for one in claim.extensions:
                claimed.setdefault(one.lower(), claim)
        return claimed

    def of(self, document: str) -> Claim | None:
        """The format of a document, by its extension."""
        return self.claimed().get(extension(document))

    def owned(self, claim: Claim) -> frozenset[str]:
        """The extensions that a format really has."""
        return frozenset(one for one, owner in self.claimed().items() if owner == claim)

    def may_read(self, claim: Claim, path: str) -> bool:
        """Whether the format may be given that document (design 8)."""
        return self._port.may_read(claim.plugin, path)

    def must_read(self, claim: Claim, path: str, where: str) -> None:
        """Raise `YazError` `format-not-granted` where the format may not be given that document; it is recorded."""
        if self.may_read(claim, path):
            return
        why = self._port.refused(claim.plugin, path, where)
        raise YazError(
            "format-not-granted",
            f"the plugin {claim.plugin} may not read this project: {why}",
            f"yaz denials {claim.plugin} says what would allow it",
        )

    def find_entry(self, folder: Folder, names: Sequence[str]) -> tuple[str, Claim] | None:
        """The entry among the documents `names`, by the first format that finds one.

        Raises `FormatFault`, and `YazError` `format-not-granted` where a format may read none of its documents.
        """
        for claim in dict.fromkeys(self.claimed().values()):
            theirs = [name for name in names if self.of(name) == claim]
            mine = [name for name in theirs if self.may_read(claim, name)]
            if theirs and not mine:
                self.must_read(claim, theirs[0], "opening a project")
            found = self._ask(claim, "find_entry", folder, mine, str | None)
            if found is not None:
                if found not in mine:
                    raise FormatFault(claim, "find_entry", "it names a document that is not there")
                return found, claim
        return None

    def outline(self, claim: Claim, folder: Folder, source: Mapping[str, Any]) -> list[RawNode]:
        """The outline of `source`, `{"entry", "files"}`. Raises `FormatFault`."""
        nodes: list[RawNode] = self._ask(claim, "outline", folder, source, list[RawNode])
        self._only_documents(claim, "outline", [node.file for node in nodes])
        return nodes

    def plan(self, claim: Claim, folder: Folder, job: Mapping[str, Any]) -> RawPlan:
        """What the format wants run. Raises `FormatFault`."""
        plan: RawPlan = self._ask(claim, "plan", folder, job, RawPlan)
        return plan

    def collect(self, claim: Claim, folder: Folder, outcome: Mapping[str, Any]) -> list[RawDiagnostic]:
        """The diagnostics in what an engine said. Raises `FormatFault`."""
        collected: _Collected = self._ask(claim, "collect", folder, outcome, _Collected)
        return collected.diagnostics

    def _ask(self, claim: Claim, function: str, folder: Folder, argument: Any, shape: Any) -> Any:
        try:
            value = self._port.call(claim, function, folder, argument, FORMAT_SECONDS)
        except TimeoutError:
            raise FormatFault(claim, function, f"it took longer than {FORMAT_SECONDS:g} seconds") from None
        except Exception as error:  # noqa: BLE001 - whatever a plugin raises is this format's failure, and named so
            # Its text may hold paths of this machine; the kind of the error is enough to report it by.
            raise FormatFault(claim, function, f"it raised {_kind_of(error)}") from None
        try:
            return msgspec.convert(value, shape, strict=True)
        except msgspec.ValidationError as error:
            raise FormatFault(claim, function, f"its answer has the wrong shape: {error}") from None

    def _only_documents(self, claim: Claim, function: str, names: Sequence[str]) -> None:
        for name in dict.fromkeys(names):
            try:
                document_path(name)
            except YazError as error:
                raise FormatFault(claim, function, f"it names a file that is no document: {error.message}") from None


def _kind_of(error: Exception) -> str:
    # A runtime wraps what a handler raised; the name of the error itself says more.
    failure = getattr(error, "failure", None)
    return str(getattr(failure, "type", type(error).__name__))
