"""Faults as data: what is wrong with a manifest, where a plugin and its manifest differ, what a user must mend.

Every fault has a stable code, one sentence that says what is wrong and one that says what to do. Nothing here prints:
`sentence` renders one fault, and callers decide where it goes.
"""

from __future__ import annotations

from typing import Any, Literal

import attrs

Severity = Literal["error", "warning"]
Change = Literal["undeclared", "missing", "changed", "duplicate"]


class YazError(Exception):
    """A fault that a person can mend: a stable code, what is wrong, what to do.

    The command prints it without a traceback. `fix` may be empty where the message says it all.
    """

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix

    def as_json(self) -> dict[str, str]:
        """The fault as plain data: `code`, `message`, `fix`."""
        return {"code": self.code, "message": self.message, "fix": self.fix}


@attrs.frozen
class Violation:
    """One rule that a manifest breaks (design 4).

    `pointer` is the JSON pointer of the value (`/provides/tools/0/name`, empty for the whole document or the
    distribution); `line` and `column` count from 1 and are None where there is no text to point into.
    """

    code: str
    message: str
    fix: str = ""
    pointer: str = ""
    severity: Severity = "error"
    line: int | None = None
    column: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The violation as plain data, with the keys that design 4 fixes and the position."""
        return attrs.asdict(self)


@attrs.frozen
class Difference:
    """One disagreement between what a manifest declares and what the plugin's hooks registered (design 6).

    `kind` is the contribution kind's key (`tools`), `name` what identifies the contribution in it, `change` one of
    `undeclared` (registered, not declared), `missing` (declared, not registered), `changed`, `duplicate`.
    """

    kind: str
    name: str
    change: Change
    message: str
    fix: str
    declared: Any = None
    registered: Any = None

    def as_json(self) -> dict[str, Any]:
        """The difference as plain data, in the order that design 6 fixes."""
        return {
            "kind": self.kind,
            "name": self.name,
            "change": self.change,
            "declared": self.declared,
            "registered": self.registered,
            "message": self.message,
            "fix": self.fix,
        }


def sentence(fault: YazError | Violation | Difference) -> str:
    """Render one fault as a line for people: position or name, what is wrong, what to do."""
    where = ""
    if isinstance(fault, Violation):
        place = f"{fault.line}:{fault.column} " if fault.line is not None else ""
        where = f"{place}{fault.pointer} " if fault.pointer else place
        where += f"[{fault.code}] "
    elif isinstance(fault, Difference):
        where = f"{fault.kind} {fault.name} [{fault.change}] "
    else:
        where = f"[{fault.code}] "
    return f"{where}{fault.message}{'. ' + fault.fix if fault.fix else ''}"


def errors(violations: tuple[Violation, ...] | list[Violation]) -> list[Violation]:
    """Those violations that refuse a manifest; warnings do not."""
    return [violation for violation in violations if violation.severity == "error"]
