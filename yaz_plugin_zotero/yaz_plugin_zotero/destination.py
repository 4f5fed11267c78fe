"""Which .bib of the project an entry goes into (Y-77): what the caller or the user says, else what the project names.

The document that is cited into is asked first, then the project's main document, then whether there is only one .bib.
"""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Callable
from typing import Any

import attrs
from yazcore import CapabilityError, ServiceError

from yaz_plugin_zotero.naming import Named, in_project, line_for, named
from yaz_plugin_zotero.runs import Format

DEFAULT = "references.bib"
"""Where nothing says another."""

FORMATS: dict[str, Format] = {
    ".typ": "typst", ".tex": "latex", ".ltx": "latex", ".md": "markdown", ".markdown": "markdown", ".qmd": "markdown",
}  # fmt: skip

MAIN_NAMES = ("main", "thesis", "dissertation", "paper", "article", "report", "book", "document", "index")
"""The names by which yaz knows a project's entry, the plainest first; a test compares them with its own."""


@attrs.frozen
class Destination:
    """The .bib that an entry goes into, and what the caller has to know of it."""

    bibliography: str
    warning: str | None = None


@attrs.frozen
class _Source:
    """A document that names a bibliography."""

    document: str
    format: Format
    named: Named

    @property
    def paths(self) -> list[str]:
        """Those of its .bib files that may be used, as paths in the project.

        Typst counts a path from the document. LaTeX and Pandoc count from where they are started, which is the
        document's folder or the project's.
        """
        bases = (self.document,) if self.format == "typst" else (self.document, "")
        found = [in_project(path, base, self.format) for path in self.named.paths for base in bases]
        return [path for path in dict.fromkeys(found) if path is not None]


def format_of(document: str) -> Format | None:
    """A document's format by its ending, or None for one that has no citations."""
    return FORMATS.get(posixpath.splitext(document)[1].lower())


def find(files: Any, given: str | None, document: str | None) -> Destination:
    """The destination of an entry; `given` is what the caller or the user says, `document` what is cited into.

    Raises `CapabilityError` where the project is not the plugin's to read.
    """
    if given is not None and document is None:
        return Destination(given)
    form = format_of(document) if document is not None else None
    source = _source(files, document) if document is not None else None
    listed: list[str] = []
    if source is None:
        listed = _listed(files)
        source = _main_source(files, listed, form)
    path = given or (_usable(files, source) if source is not None else _only(listed)) or DEFAULT
    if source is not None and form in (None, source.format):
        return Destination(path, _elsewhere(path, source, asked=given is not None))
    return Destination(path, _nowhere(path, document, form, listed))


def _source(files: Any, document: str) -> _Source | None:
    form = format_of(document)
    text = _text(files, document) if form is not None else None
    if form is None or text is None or not (found := named(text, form)):
        return None
    return _Source(document, form, found)


def _main_source(files: Any, listed: list[str], form: Format | None) -> _Source | None:
    """The project's main document, if it names a bibliography: the one of yaz.toml, else the one that looks like it."""
    entry = _entry(files)
    sources = [entry] if entry is not None else [*_mains(listed, form), *_mains(listed, None)]
    found = (_source(files, document) for document in dict.fromkeys(sources))
    return next((source for source in found if source is not None), None)


def _entry(files: Any) -> str | None:
    """The entry that yaz.toml names. What is wrong with that file, yaz says when the project is opened."""
    try:
        entry = tomllib.loads(_text(files, "yaz.toml") or "").get("entry")
    except (tomllib.TOMLDecodeError, RecursionError):  # the latter for what is nested without end
        return None
    return posixpath.normpath(entry) if isinstance(entry, str) and entry and not entry.startswith("/") else None


def _mains(listed: list[str], form: Format | None) -> list[str]:
    """The main document of that format, or of any: by its name, or the only one; those nearest to the top count."""
    documents = [path for path in listed if format_of(path) is not None and form in (None, format_of(path))]
    top = min((path.count("/") for path in documents), default=0)
    nearest = [path for path in documents if path.count("/") == top]
    stems = {path: posixpath.splitext(posixpath.basename(path))[0].lower() for path in nearest}
    ranked = [path for name in MAIN_NAMES for path in nearest if stems[path] == name]
    return ranked[:1] or (nearest if len(nearest) == 1 else [])


def _only(listed: list[str]) -> str | None:
    found = _bibliographies(listed)
    return found[0] if len(found) == 1 else None


def _bibliographies(listed: list[str]) -> list[str]:
    return [path for path in listed if path.lower().endswith(".bib")]


def _usable(files: Any, source: _Source) -> str | None:
    """The first .bib of the source that exists, else the first that can be made."""
    kinds = {path: _kind(files, path) for path in source.paths}
    return next((path for wanted in ("file", "absent") for path, kind in kinds.items() if kind == wanted), None)


def _elsewhere(path: str, source: _Source, *, asked: bool) -> str | None:
    """What to say where the source does not look for its works in `path`."""
    paths = source.paths
    if posixpath.normpath(path) in paths:
        return None
    if asked and paths:
        return (
            f"{source.document} names {paths[0]} as its bibliography, but the entry is in {path}: cite again with "
            f"{paths[0]} as bibliography, or have {source.document} name {path} too."
        )
    return (
        f"{source.document} names a bibliography that cannot be used here: only a .bib file of the project, named in "
        f"plain text, can. The entry is in {path}: see that {source.document} names that file."
    )


def _nowhere(path: str, document: str | None, form: Format | None, listed: list[str]) -> str | None:
    """What to say where nothing names a bibliography, or nothing that `document` would draw on."""
    if document is not None and form is not None:
        wanted = line_for(path, document, form)
        return f"{document} names no bibliography: unless another file of the project does, add {wanted}"
    if path == DEFAULT and len(found := _bibliographies(listed)) > 1 and DEFAULT not in found:
        return f"The project has several .bib files and names none of them, so the entry is in {path}, a new one."
    return None


def _listed(files: Any) -> list[str]:
    """The project's files but the hidden ones; where they are too many those at the top, where a main document is."""
    for recursive in (True, False):
        try:
            found = [one["path"] for one in files.list("", recursive=recursive) if one["kind"] == "file"]
            return [path for path in found if not path.startswith(".") and "/." not in path]
        except ServiceError:
            continue
    return []


def _text(files: Any, path: str) -> str | None:
    """A file's text, or None where it cannot be had; what is no UTF-8 in it does not matter here."""
    data: bytes | None = _tried(files.read_bytes, path)
    return data.decode("utf-8", "replace") if data is not None else None


def _kind(files: Any, path: str) -> str | None:
    """`file`, `absent`, or None for what no entry can be written into."""
    status = _tried(lambda path: files.stat(path) or {"kind": "absent"}, path)
    return status["kind"] if status is not None and status["kind"] != "folder" else None


def _tried(act: Callable[[str], Any], path: str) -> Any:
    """What comes of it, or None where it cannot be done with that path: a link leads out of the project, say."""
    try:
        return act(path)
    except ServiceError:
        return None
    except CapabilityError as refused:
        if refused.reason != "out-of-scope":
            raise
        return None
