"""A project: a folder with an entry document, and what an optional `yaz.toml` says about it (design 8)."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Any

import attrs

from yazcore import PROJECT, YazError
from yazcore.writing.projects.formats import Folder
from yazcore.writing.projects.paths import document_path

SETTINGS_FILE = "yaz.toml"
"""The name of the optional settings, in the project's folder. yaz reads it and never writes it."""

_MOST_BYTES = 65_536
_LONGEST_NAME = 120
_WHERE = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)$")


@attrs.frozen(kw_only=True)
class Settings:
    """What `yaz.toml` may say, all of it optional: the entry document, an id that the project keeps wherever it goes, a
    name for people, and folders of the project with fonts of its own."""

    entry: str | None = None
    id: str | None = None
    name: str | None = None
    fonts: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Project:
    """An open project. `root` is absolute, without symbolic links; `entry` a document; `format` its format's id."""

    id: str
    name: str
    root: Path
    entry: str
    format: str
    fonts: tuple[str, ...] = ()

    @property
    def folder(self) -> Folder:
        """The project as services and formats need it."""
        return Folder(id=self.id, name=self.name, root=self.root)


def read_settings(root: Path) -> Settings:
    """The settings of the project in `root`; without the file, defaults.

    Raises `YazError` (`project-settings-broken`) with the line for whatever is wrong in it: a malformed file is an
    error, never half read.
    """
    path = root / SETTINGS_FILE
    try:
        if path.is_symlink() or not path.is_file():
            if path.is_symlink() or path.exists():
                raise _broken("it is not a file", "make it a plain file, or take it away")
            return Settings()
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _broken(f"it cannot be read: {error.strerror}", "make it readable, or take it away") from None
    return parse_settings(data)


def parse_settings(data: bytes) -> Settings:
    """The settings in the bytes of a `yaz.toml`. Pure; raises `YazError` (`project-settings-broken`)."""
    if len(data) > _MOST_BYTES:
        raise _broken(f"it is larger than {_MOST_BYTES} bytes", "keep only settings in it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _broken("it is not UTF-8", "save it as UTF-8", line) from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = str(error)
        at = _WHERE.search(problem)
        line = int(at[1]) if at and at[1] else text.count("\n") + 1
        raise _broken(_WHERE.sub("", problem), "mend the TOML", line) from None
    except RecursionError:
        raise _broken("it is nested too deeply", "mend the TOML") from None
    known = [field.name for field in attrs.fields(Settings)]
    for key, value in values.items():
        if key not in known:
            close = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            raise _broken(f"there is no setting {key!r}", hint, _line_of(text, key))
        if problem := _problem(key, value):
            raise _broken(f"{key} {problem}", f"see the example: {_EXAMPLES[key]}", _line_of(text, key))
    return Settings(**{**values, "fonts": tuple(values.get("fonts", ()))})


_EXAMPLES = {
    "entry": 'entry = "thesis.typ"',
    "id": 'id = "prj_abcdefgh2345"',
    "name": 'name = "My thesis"',
    "fonts": 'fonts = ["fonts"]',
}


def _problem(key: str, value: Any) -> str:
    if key == "fonts":
        if not isinstance(value, list) or len(value) > 16:
            return "is not a list of at most 16 folders"
        return next((problem for one in value if (problem := _path_problem(one))), "")
    if not isinstance(value, str):
        return "is not a text"
    if key == "id":
        return "" if PROJECT.parse(value) == value else "is not prj_ and twelve characters of a-z2-7"
    if key == "name":
        return "" if value.strip() and value.isprintable() and len(value) <= _LONGEST_NAME else "is not a short text"
    return _path_problem(value)


def _path_problem(value: Any) -> str:
    if not isinstance(value, str):
        return "is not a text"
    try:
        document_path(value)
    except YazError as error:
        return f"is not inside the project: {error.message}"
    return ""


def _line_of(text: str, key: str) -> int | None:
    """The line on which a key of the top level stands, if it is written plainly."""
    name = re.escape(key)
    found = re.search(rf"^[ \t]*(?:[\"']?{name}[\"']?[ \t]*[=.]|\[+[ \t]*{name}\b)", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else None


def _broken(problem: str, fix: str, line: int | None = None) -> YazError:
    where = SETTINGS_FILE if line is None else f"{SETTINGS_FILE} line {line}"
    return YazError("project-settings-broken", f"{where}: {problem}", fix)
