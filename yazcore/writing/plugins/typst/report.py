"""What the Typst compiler says, as diagnostics.

Its places exist only in the text it draws for a terminal (codespan):

    error: unknown variable: thesys
      ┌─ chapters/results.typ:4:12
      │
    4 │ We saw that #thesys holds.
      │              ^^^^^^
      │
      = hint: ...

    help: while calling `f`
      ┌─ main.typ:2:1

Lines count from 1, columns from 0 in code points. A message may hold anything, line ends and drawings of places
included (`#panic`): the compiler's own first message is known exactly, and elsewhere a place only counts where a bare
bar follows it, and a head only after an empty line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

_HEAD = re.compile(r"(error|warning|help)(?:\[[^\]]*\])?: (.*)", re.DOTALL)
_PLACE = re.compile(r" *┌─ (.+):(\d{1,9}):(\d{1,9})")
_BAR = re.compile(r" *│ *")
_HINT = re.compile(r" *= hint: (.*)")
_MORE = re.compile(r" +(\S.*)")
# A hint about options of Typst's own command, which nobody here runs.
_OF_THE_COMMAND = re.compile(r"`--[a-z-]+`")
_DRAWN = re.compile(r"[ \d]*[│╭╰]")


@attrs.define
class _Said:
    severity: str
    message: list[str]
    exact: bool = False
    file: str | None = None
    line: int | None = None
    column: int | None = None
    hints: list[str] = attrs.field(factory=list)

    @property
    def placed(self) -> bool:
        return self.line is not None


def diagnostics(output: Mapping[str, Any], entry: str) -> list[dict[str, Any]]:
    """The diagnostics in an engine's output (`error`, `warnings`, `failure`, `cut`) about `entry`. Pure."""
    found: list[dict[str, Any]] = []
    if (error := output.get("error")) is not None:
        found += _of(error["text"], error["message"])
        if not any(one["severity"] == "error" for one in found):  # it was drawn after warnings, and cut off
            found += _of(f"error: {error['message']}\n", error["message"])
    for warning in output.get("warnings", ()):
        found += _of(warning["text"], warning["message"])
    if (failure := output.get("failure")) is not None:
        found.append(_of_failure(failure))
    if output.get("cut"):
        found.append(
            {"severity": "info", "code": "cut", "message": "the compiler said more; mend these, and compile again"}
        )
    # Of the entry itself the compiler says no place: it has not got that far.
    return [{**one, "file": entry} if one["code"] == "encoding" and "file" not in one else one for one in found]


def _of(text: str, message: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    for said in _parsed(text, message):
        joined = "\n".join(said.message).strip()
        if said.severity == "help":
            if result:
                related = {"message": joined, **_place(said, column=False)}
                result[-1].setdefault("related", []).append(related)
            continue
        code, hint = classify(joined)
        result.append(
            {
                "severity": said.severity,
                "code": code,
                "message": joined or "(no message)",
                "hints": [one for one in (*said.hints, hint) if one and not _OF_THE_COMMAND.search(one)],
                **_place(said, column=True),
            }
        )
    return result


def _place(said: _Said, *, column: bool) -> dict[str, Any]:
    if said.file is None or said.line is None or said.line < 1:
        return {}
    place: dict[str, Any] = {"file": said.file, "line": said.line}
    if column and said.column is not None:
        place["column"] = said.column + 1
    return place


def _parsed(text: str, message: str) -> list[_Said]:
    """Everything a report says. `message` is the first one's, exactly."""
    said: list[_Said] = []
    for severity in ("error", "warning"):
        if text.startswith(head := f"{severity}: {message}\n"):
            said.append(_Said(severity, [message], exact=True))
            text = text[len(head) :]
            break
    lines = text.split("\n")
    in_message = False
    in_hint = False
    for index, line in enumerate(lines):
        begins = _HEAD.fullmatch(line)
        if begins and (not lines[index - 1] if index else not said):
            said.append(_Said(begins[1], [begins[2]]))
            in_message, in_hint = True, False
            continue
        if not said:
            continue
        place = _PLACE.fullmatch(line)
        if place and index + 1 < len(lines) and _BAR.fullmatch(lines[index + 1]):
            _put(said, place)
            in_message = in_hint = False
            continue
        current = said[-1]
        if hint := _HINT.fullmatch(line):
            current.hints.append(hint[1])
            in_message, in_hint = False, True
        elif in_hint and not _DRAWN.match(line) and (more := _MORE.fullmatch(line)):
            current.hints[-1] += f" {more[1]}"
        elif in_message:
            current.message.append(line)
        else:
            in_hint = False
    return said


def _put(said: list[_Said], place: re.Match[str]) -> None:
    """Give the newest one its place. Where it has one already, it was drawn inside the message of an earlier one."""
    if said[-1].placed and not said[-1].exact:
        outer = next((index for index in range(len(said) - 1, -1, -1) if not said[index].placed), len(said) - 1)
        for forged in said[outer + 1 :]:
            said[outer].message += [f"{forged.severity}: {forged.message[0]}", *forged.message[1:]]
        del said[outer + 1 :]
    elif said[-1].placed:
        return
    said[-1].file, said[-1].line, said[-1].column = place[1], int(place[2]), int(place[3])


_PACKAGES = (
    "packages are not downloaded while compiling: copy the package into the project and import it by its path, or do "
    "without it"
)
_OUTSIDE = "only files of the project can be read: copy the file into the project"
_FONTS = "put the font into a folder of the project, and name that folder under fonts in yaz.toml"

# What a document says itself (a panic) comes first: it may say anything.
_CODES: tuple[tuple[str, str, str], ...] = (
    (r"panicked with: ", "panic", ""),
    (r"assertion failed", "assertion", ""),
    (r"failed to (?:download|load|decompress) package|package not found", "package-unavailable", _PACKAGES),
    (r"path .* would escape the (?:project|package) root", "escape-root", _OUTSIDE),
    (r"failed to load file \(access denied\)", "escape-root", _OUTSIDE),
    (r"file not found", "missing-file", ""),
    (r"file is not valid UTF-8", "encoding", "save the file as UTF-8"),
    (r"unknown variable: |unresolved import", "undefined-command", ""),
    (r".* does not contain |.* does not have (?:a )?(?:field|method)", "undefined-command", ""),
    (r"label `<.*>` does not exist", "undefined-ref", ""),
    (r"label `<.*>` occurs multiple times", "duplicate-label", ""),
    (r"failed to parse (?:BibLaTeX|BibTeX|Hayagriva|YAML)|duplicate bibliography key", "bibliography", ""),
    (r"unknown font family", "missing-font", _FONTS),
    (r"layout did not converge", "not-converged", ""),
    (r"maximum .* depth exceeded|loop seems to be infinite|condition is always true", "runaway", ""),
    (r"expected .*, found |missing argument|unexpected argument", "type", ""),
    (r"cannot (?:add|subtract|multiply|divide|join|apply|compare|convert|access|mutate)", "type", ""),
    (r"unclosed |unexpected |expected |.* is not valid in code", "syntax", ""),
)
_CLASSIFIED = tuple((re.compile(pattern), code, hint) for pattern, code, hint in _CODES)


def classify(message: str) -> tuple[str, str]:
    """The stable code of a message, and a hint of ours or the empty text; `typst` for what has no code of its own."""
    for pattern, code, hint in _CLASSIFIED:
        if pattern.match(message):
            return code, hint
    return "typst", ""


def _of_failure(failure: str) -> dict[str, Any]:
    """What came instead of a report, such as an entry that has gone since the project was opened."""
    if "canonicalize path" in failure or "No such file" in failure:
        return {"severity": "error", "code": "missing-file", "message": "the project's entry is not there any more"}
    return {"severity": "error", "code": "engine-failed", "message": f"the compiler gave up: {failure}"}
