"""Citing one item: its entry in the project's .bib, and the citation in a document (zotero 0, fact 8; YA-25, YA-26).

Everything is checked before anything is written; the entry is written first, then the document, each only if its file
is still what was read. A file that changed meanwhile is read again.
"""

from __future__ import annotations

import re
from typing import Any

import attrs
from yazcore import ServiceError, ToolError

from yaz_plugin_zotero import bibliography
from yaz_plugin_zotero.bibliography import Ensured
from yaz_plugin_zotero.library import Item
from yaz_plugin_zotero.placing import Placed, place
from yaz_plugin_zotero.runs import Format
from yaz_plugin_zotero.tex import Dialect

_FORMATS: dict[str, Format] = {
    ".typ": "typst", ".tex": "latex", ".ltx": "latex", ".md": "markdown", ".markdown": "markdown", ".qmd": "markdown",
}  # fmt: skip

_ATTEMPTS = 50
"""An attempt fails only because somebody else's write went through: so many writers at once are no trouble."""

_HAS_BIBLIOGRAPHY = {
    "typst": (re.compile(r"\bbibliography\("), '#bibliography("{path}")'),
    "latex": (re.compile(r"\\(?:bibliography|addbibresource)\b"), "\\bibliography{{{stem}}}"),
    "markdown": (re.compile(r"^bibliography:", re.MULTILINE), "bibliography: {path} (in the front matter)"),
}


@attrs.frozen
class Request:
    """What to cite where. Without `document` only the entry is wanted; `after` is text of the document."""

    bibliography: str
    document: str | None = None
    after: str | None = None
    locator: str | None = None

    @property
    def format(self) -> Format | None:
        """The document's format, by its ending.

        Raises `ToolError` for an ending that has no citations, and for a bibliography that is no .bib.
        """
        if not self.bibliography.lower().endswith(".bib"):
            raise ToolError(f"{self.bibliography} is no bibliography: its name must end in .bib.")
        if self.document is None:
            return None
        ending = self.document[self.document.rfind(".") :].lower() if "." in self.document else ""
        if ending not in _FORMATS:
            raise ToolError(
                f"{self.document} is no document that a citation can be put into: its name must end in "
                f"{', '.join(sorted(_FORMATS))}."
            )
        return _FORMATS[ending]


@attrs.frozen(kw_only=True)
class Cited:
    """What was done; `placed` is None where no document was named."""

    ensured: Ensured
    placed: Placed | None
    hint: str | None


def cite(files: Any, item: Item, request: Request) -> Cited:
    """Make sure of the entry, and put the citation in if a document is named.

    Raises `ToolError` where nothing could be done, and says if the entry was written all the same; `CapabilityError`
    where a path is not the plugin's to touch, before anything is written.
    """
    try:
        return _cite(files, item, request)
    except ServiceError as fault:
        raise ToolError(f"The files could not be read or written: {fault.message}.") from None


def _cite(files: Any, item: Item, request: Request) -> Cited:
    form = request.format
    written: Ensured | None = None
    for _ in range(_ATTEMPTS):
        table = _read(files, request.bibliography)
        document = _document(files, request.document) if request.document is not None else None
        ensured = bibliography.ensure(table.text, item, _dialect(files, form), request.bibliography)
        placed = None
        if form is not None and document is not None:
            try:
                placed = place(
                    document.text, str(request.document), str(request.after), form, ensured.key.text, request.locator
                )
            except ToolError as fault:
                raise fault if written is None else _half_done(str(fault), request, written) from None
        try:
            if ensured.added:
                _write(files, request.bibliography, ensured.text, table.revision)
                written = ensured
            if placed is not None and placed.inserted and document is not None:
                _write(files, str(request.document), placed.text, document.revision)
        except ServiceError as fault:
            if fault.code == "files-changed":
                continue
            if written is None:
                raise
            raise _half_done(fault.message, request, written) from None
        hint = _hint(document.text, request, form) if document is not None and form is not None else None
        return Cited(ensured=written or ensured, placed=placed, hint=hint)
    kept = f" The entry {written.key.text} is in {request.bibliography}." if written is not None else ""
    raise ToolError(
        f"{request.bibliography} or the document changed all the time while it was written. Try again.{kept}"
    )


@attrs.frozen
class _Text:
    """A file as it was read: its text, and the revision that a write expects (`absent` for none)."""

    text: str
    revision: str


def _document(files: Any, path: str) -> _Text:
    document = _read(files, path)
    if document.revision == "absent":
        raise ToolError(f"There is no document {path} in the project, so nothing was written.")
    return document


def _read(files: Any, path: str) -> _Text:
    revision = files.revision(path)
    if revision is None:
        return _Text("", "absent")
    # The revision is asked first: a change in between makes the write fail, never the other way round.
    data: bytes = files.read_bytes(path)
    try:
        return _Text(data.decode("utf-8"), revision)
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise ToolError(f"{path} is not UTF-8 (line {line}). Save it as UTF-8, then cite again.") from None


def _write(files: Any, path: str, text: str, revision: str) -> None:
    files.write_bytes(path, text.encode("utf-8"), expect=revision)


def _dialect(files: Any, form: Format | None) -> Dialect:
    """Typst's for a Typst document; without a document, Typst's where the project has Typst documents and no LaTeX."""
    if form is not None:
        return "typst" if form == "typst" else "tex"
    try:
        listed = files.list("")
    except ServiceError:
        return "tex"
    endings = {name["path"][name["path"].rfind(".") :].lower() for name in listed if "." in name["path"]}
    return "typst" if ".typ" in endings and not endings & {".tex", ".ltx"} else "tex"


def _half_done(why: str, request: Request, ensured: Ensured) -> ToolError:
    return ToolError(
        f"The entry {ensured.key.text} is in {request.bibliography}, but the citation is not in {request.document}, "
        f"which changed meanwhile or could not be written: {why}"
    )


def _hint(text: str, request: Request, form: Format) -> str | None:
    pattern, line = _HAS_BIBLIOGRAPHY[form]
    if pattern.search(text):
        return None
    wanted = line.format(path=request.bibliography, stem=request.bibliography.removesuffix(".bib"))
    return f"{request.document} names no bibliography: unless another file of the project does, add {wanted}"
