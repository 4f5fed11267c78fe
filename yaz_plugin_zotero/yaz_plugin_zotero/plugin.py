"""What yazcore loads: the plugin's tools, its resource, its command."""

from __future__ import annotations

from typing import Any

from yazcore import Command, Resource, ServiceError, Tool, ToolError, hookimpl

from yaz_plugin_zotero import citing, placing, search
from yaz_plugin_zotero.index import Index
from yaz_plugin_zotero.library import Item
from yaz_plugin_zotero.source import Source, refresh

ADDRESS = "yaz://zotero/library/{library}/item/{key}"
"""One item of one library."""

_COMPLETIONS = 100


class ZoteroPlugin:
    """Search the user's Zotero library and cite from it. Handlers are synchronous: yazcore runs them in threads."""

    def __init__(self, context: Any) -> None:
        self._index = Index(context.data_folder / "index.sqlite")

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        """The two tools; their schemas stand in the manifest."""
        return [Tool("search-library", self.search_library), Tool("cite-item", self.cite_item)]

    @hookimpl
    def provide_resources(self) -> list[Resource]:
        """One item, with its abstract and all its fields."""
        return [Resource(ADDRESS, self.read_item, self.complete)]

    @hookimpl
    def addCommand(self) -> list[Command]:  # noqa: N802
        """`yaz run zotero status`."""
        return [Command("status", self.status)]

    @hookimpl
    def onunload(self) -> None:
        """Let go of the index."""
        self._index.close()

    def search_library(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Find items."""
        source = refresh(context, self._index)
        query = search.parse(arguments.get("query", ""))
        answer = search.search(self._index, query, arguments.get("limit", 20), arguments.get("cursor"))
        return {
            "items": [search.shown(item) for item in answer.items],
            "nextCursor": answer.next_cursor,
            "total": answer.total,
            "source": source.as_json(),
        }

    def cite_item(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Cite an item in the call's project."""
        request = citing.Request(
            bibliography=arguments.get("bibliography") or context.settings["bibliography"] or None,
            document=arguments.get("document"),
            after=arguments.get("after"),
            locator=arguments.get("locator"),
        )
        if (request.document is None) != (request.after is None):
            raise ToolError(
                "document and after belong together: name the document and the text in it that the citation follows, "
                "or neither to get only the entry in the bibliography."
            )
        source = refresh(context, self._index)
        item = self._one(arguments["key"], arguments.get("library"))
        return _told(item, request, citing.cite(context.files, item, request), source)

    def read_item(self, context: Any, variables: dict[str, str]) -> dict[str, Any]:
        """The item a URI names."""
        source = refresh(context, self._index)
        found = self._index.find(variables["key"], variables["library"])
        if not found:
            # The code under which a host answers as for a URI that does not exist at all.
            raise ServiceError("file-not-found", "there is no such item in the Zotero library")
        item = found[0]
        names = {library.id: library.name for library in self._index.libraries()}
        return {
            "key": item.key,
            "library": item.library,
            "libraryName": names.get(item.library, item.library),
            "type": item.type,
            "title": item.title,
            "citationKey": item.citation_key,
            "year": item.year,
            "creators": [{"name": one.name, "role": one.role} for one in item.creators[:100]],
            "creatorCount": len(item.creators),
            "fields": {name: text[:2_000] for name, text in item.fields.items() if name != "title"},
            "abstract": self._index.abstract(item.library, item.key),
            "retraction": _retraction(item),
            "address": item.uri,
            "source": source.as_json(),
        }

    def complete(self, context: Any, variable: str, prefix: str) -> list[str]:
        """Values for the resource's variables; keys are those of the user's own library."""
        refresh(context, self._index)
        if variable == "library":
            return [library.id for library in self._index.libraries() if library.id.startswith(prefix)][:_COMPLETIONS]
        return self._index.keys("user", prefix, _COMPLETIONS)

    def status(self, context: Any, arguments: list[str]) -> str:
        """What the plugin sees of Zotero, for people."""
        source = refresh(context, self._index)
        told = source.as_json()
        counts = self._index.counts()
        lines = [
            context.message("status-source", schema=source.schema, journal=source.journal, written=told["written"]),
            *(
                context.message("status-library", name=library.name, id=library.id, items=counts.get(library.id, 0))
                for library in self._index.libraries()
            ),
        ]
        if source.note is not None:
            lines.append(source.note)
        return "\n".join(lines)

    def _one(self, key: str, library: str | None) -> Item:
        found = self._index.find(key, library)
        if not found:
            where = f" of the library {library}" if library is not None else ""
            raise ToolError(
                f"There is no item {key}{where} in Zotero, or it is in the trash. search-library finds items and gives "
                "their keys."
            )
        if len(found) > 1:
            candidates = "; ".join(f"{item.library}: {search.shown(item)['title']}" for item in found)
            raise ToolError(
                f"The key {key} stands for an item in each of several libraries. Pass library too. {candidates}"
            )
        return found[0]


def _told(item: Item, request: citing.Request, cited: citing.Cited, source: Source) -> dict[str, Any]:
    key, placed = cited.ensured.key, cited.placed
    return {
        "citationKey": key.text,
        "keyFrom": key.origin,
        "key": item.key,
        "library": item.library,
        "entry": "added" if cited.ensured.added else "present",
        "bibliography": cited.bibliography,
        "document": request.document,
        "inserted": placed is not None and placed.inserted,
        "line": placed.line if placed is not None else None,
        "citation": {form: _written(form, key.text, request.locator) for form in ("typst", "latex", "markdown")},
        "retraction": _retraction(item) if item.retraction is not None and item.retraction.warn else None,
        "warnings": list(_warnings(item, cited)),
        "source": source.as_json(),
    }


def _written(form: Any, key: str, locator: str | None) -> str | None:
    try:
        return placing.citation(form, key, locator)
    except ToolError:
        return None


def _retraction(item: Item) -> dict[str, Any] | None:
    if item.retraction is None:
        return None
    return {"date": item.retraction.date or None, "reasons": list(item.retraction.reasons)[:20]}


def _warnings(item: Item, cited: citing.Cited) -> list[str]:
    key, placed = cited.ensured.key, cited.placed
    told = []
    if item.retraction is not None and item.retraction.warn:
        told.append("This work was retracted. Tell the author before the text relies on it.")
    if key.origin == "made" and key.instead_of is not None:
        told.append(
            f"The item's own citation key {key.instead_of!r} is taken or cannot be used, so {key.text} was made."
        )
    elif key.origin == "made":
        told.append(f"The item has no citation key in Zotero: {key.text} was made here and is kept in this project.")
    if placed is not None and not placed.inserted:
        told.append("The citation stood there already, so the document was left as it is.")
    if cited.ensured.broken:
        lines = ", ".join(map(str, cited.ensured.broken[:5]))
        told.append(
            f"{cited.bibliography} has something that cannot be read (line {lines}): Typst refuses the whole file "
            "until it is mended."
        )
    if cited.hint is not None:
        told.append(cited.hint)
    return told
