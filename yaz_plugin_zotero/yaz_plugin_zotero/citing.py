"""Citing one item: its entry in the project's .bib, and the citation in a document (zotero 0, fact 8; YA-25, YA-26).

Everything is checked before anything is written; the entry is written first, then the document, each only if its file
is still what was read. A file that changed meanwhile is read again.
"""

from __future__ import annotations

from typing import Any

import attrs
from yazcore import ServiceError, ToolError

from yaz_plugin_zotero import bibliography, destination
from yaz_plugin_zotero.bibliography import Ensured
from yaz_plugin_zotero.library import Item
from yaz_plugin_zotero.placing import Placed, place
from yaz_plugin_zotero.runs import Format
from yaz_plugin_zotero.tex import Dialect

_ATTEMPTS = 50
"""An attempt fails only because somebody else's write went through: so many writers at once are no trouble."""


@attrs.frozen
class Request:
    """What to cite where. Without `document` only the entry is wanted; `after` is text of the document.

    `bibliography` is the .bib that the caller or the user asks for, or None for the one that the project names.
    """

    bibliography: str | None
    document: str | None = None
    after: str | None = None
    locator: str | None = None

    @property
    def format(self) -> Format | None:
        """The document's format, by its ending.

        Raises `ToolError` for an ending that has no citations, and for a bibliography that is no .bib.
        """
        if self.bibliography is not None and not self.bibliography.lower().endswith(".bib"):
            raise ToolError(f"{self.bibliography} is no bibliography: its name must end in .bib.")
        if self.document is None:
            return None
        form = destination.format_of(self.document)
        if form is None:
            raise ToolError(
                f"{self.document} is no document that a citation can be put into: its name must end in "
                f"{', '.join(sorted(destination.FORMATS))}."
            )
        return form


@attrs.frozen(kw_only=True)
class Cited:
    """What was done; `placed` is None where no document was named, `bibliography` the .bib that has the entry."""

    bibliography: str
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
    # Chosen once: what is written again after a change goes into the same file.
    target = destination.find(files, request.bibliography, request.document)
    path = target.bibliography
    written: Ensured | None = None
    for _ in range(_ATTEMPTS):
        table = _read(files, path)
        document = _document(files, request.document) if request.document is not None else None
        ensured = bibliography.ensure(table.text, item, _dialect(files, form), path)
        placed = None
        if form is not None and document is not None:
            try:
                placed = place(
                    document.text, str(request.document), str(request.after), form, ensured.key.text, request.locator
                )
            except ToolError as fault:
                raise fault if written is None else _half_done(str(fault), path, request, written) from None
        try:
            if ensured.added:
                _write(files, path, ensured.text, table.revision)
                written = ensured
            if placed is not None and placed.inserted and document is not None:
                _write(files, str(request.document), placed.text, document.revision)
        except ServiceError as fault:
            if fault.code == "files-changed":
                continue
            if written is None:
                raise
            raise _half_done(fault.message, path, request, written) from None
        return Cited(bibliography=path, ensured=written or ensured, placed=placed, hint=target.warning)
    kept = f" The entry {written.key.text} is in {path}." if written is not None else ""
    raise ToolError(
        f"{path} or the document changed all the time while it was written. Try again.{kept}"
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


def _half_done(why: str, path: str, request: Request, ensured: Ensured) -> ToolError:
    return ToolError(
        f"The entry {ensured.key.text} is in {path}, but the citation is not in {request.document}, "
        f"which changed meanwhile or could not be written: {why}"
    )
