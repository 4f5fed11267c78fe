"""A surface from a document: a server's lists as MCP has them, in one page or several, or a manifest's `provides`.

Lenient on purpose: what is missing or of another type is left out, and the rules say so. Nothing here raises for what
a stranger's document holds, once it is JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import attrs

from yazcore.design_rules.surface import FALLBACK, Asked, Note, Prompt, Resource, Surface, Tool
from yazcore.manifest.places import Path
from yazcore.violations import YazError

MOST_BYTES = 64 * 1024 * 1024
"""The largest document that is read."""

MOST_ENTRIES = 20_000
"""The most tools, resources and prompts of one document."""

Texts = Callable[[Mapping[str, Any], str], Mapping[str, str]]
"""What gives an entry's `description` or `name` by locale."""

_LISTS = ("tools", "resources", "resourceTemplates", "prompts")


def parse(data: bytes) -> tuple[Any, str]:
    """The JSON document in some bytes, and its text. Raises `YazError` `listing-unreadable`."""
    if len(data) > MOST_BYTES:
        raise YazError("listing-unreadable", f"this is no list of tools: it is larger than {MOST_BYTES} bytes", _FIX)
    try:
        text = data.decode("utf-8-sig")
        return json.loads(text, parse_constant=_no_number), text
    except UnicodeDecodeError:
        raise YazError("listing-unreadable", "this is no list of tools: it is not UTF-8", _FIX) from None
    except RecursionError:
        raise YazError("listing-unreadable", "this is no list of tools: it nests too deeply", _FIX) from None
    except ValueError as error:
        raise YazError("listing-unreadable", f"this is no list of tools: it is not JSON ({error})", _FIX) from None


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


_FIX = 'give the result of tools/list: {"tools": [...]}, or a list of such pages'


def read(document: Any, kind: str | None = None) -> Surface:
    """The surface that a document shows.

    The document is an object with `tools`, `resources`, `resourceTemplates` or `prompts`, the JSON-RPC answer around
    one, a list of such pages, or a list of tools. An object may say `"kind": "plugin"`, which `kind` overrides.

    Raises `YazError` `listing-unreadable` for a document that holds no such list, or too many entries.
    """
    found: dict[str, list[tuple[Path, Any]]] = {key: [] for key in _LISTS}
    count = 0
    for key, path, entry in islice(_entries(document, ()), MOST_ENTRIES + 1):
        found[key].append((path, entry))
        count += 1
    if count > MOST_ENTRIES:
        raise YazError("listing-unreadable", f"this is no list of tools: it has more than {MOST_ENTRIES} entries", _FIX)
    if not count and isinstance(document, Mapping) and {"contract", "provides"} <= document.keys():
        message = "this is no list of tools: it is the manifest of a plugin"
        raise YazError("listing-unreadable", message, "name the plugin's folder, its wheel or its id instead")
    if not count and not _has_list(document):
        raise YazError("listing-unreadable", f"this is no list of tools: it holds none of {', '.join(_LISTS)}", _FIX)
    said = document.get("kind") if kind is None and isinstance(document, Mapping) else kind
    asked = asks(document.get("capabilities")) if isinstance(document, Mapping) else ()
    ids = document.get("scopesWithIds") if isinstance(document, Mapping) else None
    scopes = frozenset(filter(_is_text, ids)) if isinstance(ids, list) else frozenset()
    surface = surface_of(
        found, is_plugin=said == "plugin", texts=_inline, asks=asked, scopes_with_ids=scopes
    )  # fmt: skip
    return attrs.evolve(surface, resources=tuple(_as_paged(one, document) for one in surface.resources))


def _as_paged(found: Resource, document: Any) -> Resource:
    """A resource with the cache scope of the page that it stands in, where it has none of its own (MCP 2026-07-28)."""
    page = document
    for part in found.path[:-2]:
        page = page[part]
    scope = page.get("cacheScope") if isinstance(page, Mapping) else None
    if found.cache_scope is not None or not isinstance(scope, str):
        return found
    return attrs.evolve(found, cache_scope=scope, cache_path=(*found.path[:-2], "cacheScope"))


def _entries(document: Any, path: Path) -> Iterator[tuple[str, Path, Any]]:
    """(list, place, entry) of each entry of every page."""
    if isinstance(document, Mapping):
        if _has_list(document):
            for key in _LISTS:
                entries = document.get(key)
                for index, entry in enumerate(entries if isinstance(entries, list) else ()):
                    yield key, (*path, key, index), entry
        elif "result" in document and len(path) < _DEEPEST_PAGE:
            yield from _entries(document["result"], (*path, "result"))
    elif isinstance(document, list) and len(path) < _DEEPEST_PAGE:
        for index, one in enumerate(document):
            if isinstance(one, Mapping) and "name" in one and not _has_list(one):
                yield "tools", (*path, index), one
            else:
                yield from _entries(one, (*path, index))


_DEEPEST_PAGE = 2


def _has_list(document: Any) -> bool:
    return isinstance(document, Mapping) and any(isinstance(document.get(key), list) for key in _LISTS)


def _inline(entry: Mapping[str, Any], what: str) -> Mapping[str, str]:
    if what == "name":
        title = entry.get(_title_key(entry))
        return {FALLBACK: title} if isinstance(title, str) else {}
    texts = entry.get("texts")
    said = {str(key): text for key, text in texts.items() if _is_text(text)} if isinstance(texts, Mapping) else {}
    if _is_text(entry.get("description")):
        said[FALLBACK] = entry["description"]
    return said


def surface_of(found: Mapping[str, list[tuple[Path, Any]]], *, is_plugin: bool, texts: Texts, **more: Any) -> Surface:
    """The surface of entries by list, each with its place in the document; `more` are fields of `Surface`."""
    broken = [path for entries in found.values() for path, entry in entries if not isinstance(entry, Mapping)]

    def entries_of(key: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        return ((path, entry) for path, entry in found.get(key, ()) if isinstance(entry, Mapping))

    return Surface(
        kind="plugin" if is_plugin else "server",
        tools=tuple(_tool(path, entry, texts) for path, entry in entries_of("tools")),
        resources=(
            *(_resource(path, entry, texts) for path, entry in entries_of("resources")),
            *(_resource(path, entry, texts) for path, entry in entries_of("resourceTemplates")),
        ),
        prompts=tuple(_prompt(path, entry, texts) for path, entry in entries_of("prompts")),
        broken=tuple(broken),
        **more,
    )


def asks(capabilities: Any) -> tuple[Asked, ...]:
    """What a manifest's capabilities come to."""
    found = []
    for index, one in enumerate(capabilities if isinstance(capabilities, list) else ()):
        if isinstance(one, Mapping):
            kind = _text(one.get("kind")) or ""
            changes = kind in _CHANGE or (kind == "fs-project" and one.get("access") == "write")
            named = [one[key] for key in ("names", "hosts", "servers", "commands") if isinstance(one.get(key), list)]
            found.append(Asked(kind=kind, path=("capabilities", index), changes=changes, count=sum(map(len, named))))
    return tuple(found)


_CHANGE = frozenset({"fs-write", "process"})


def _tool(path: Path, entry: Mapping[str, Any], texts: Texts) -> Tool:
    return Tool(
        **_common(path, entry, texts, "name"),
        input_schema=entry.get("inputSchema"),
        output_schema=entry.get("outputSchema"),
        notes=_notes((*path, "params"), entry.get("params")),
        posture=_text(entry.get("posture")),
        approval=_text(entry.get("approval")),
        hints=_truths(entry.get("annotations")),
        effect=_truths(entry.get("effect")),
    )


def _resource(path: Path, entry: Mapping[str, Any], texts: Texts) -> Resource:
    is_template = _is_text(entry.get("uriTemplate"))
    cache = entry.get("cache")
    scope = cache.get("scope") if isinstance(cache, Mapping) else entry.get("cacheScope")
    completes = entry.get("completes")
    return Resource(
        **_common(path, entry, texts, "uriTemplate" if is_template else "uri"),
        is_template=is_template,
        title=_text(entry.get("name")) or "",
        mime_type=_text(entry.get("mimeType")),
        variables=_notes((*path, "variables"), entry.get("variables")),
        cache_scope=_text(scope),
        cache_path=(*path, "cache", "scope") if isinstance(cache, Mapping) else (*path, "cacheScope"),
        completes=completes if isinstance(completes, bool) else None,
    )


def _prompt(path: Path, entry: Mapping[str, Any], texts: Texts) -> Prompt:
    return Prompt(**_common(path, entry, texts, "name"), arguments=_notes((*path, "arguments"), entry.get("arguments")))


def _common(path: Path, entry: Mapping[str, Any], texts: Texts, name: str) -> dict[str, Any]:
    has_key = "descriptionKey" in entry
    return {
        "name": _text(entry.get(name)) or "",
        "path": path,
        "text_path": (*path, "descriptionKey" if has_key else "description"),
        "texts": texts(entry, "description"),
        "titles": texts(entry, "name"),
        "title_path": (*path, "nameKey" if "nameKey" in entry else _title_key(entry)),
        "scope": _text(entry.get("scope")),
        "permissions": _permissions(entry.get("permission")),
    }


def _title_key(entry: Mapping[str, Any]) -> str:
    """The key of what people read; a resource's `name` is none that anything is called by."""
    return "title" if "title" in entry or not {"uri", "uriTemplate"} & entry.keys() else "name"


def _permissions(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(filter(_is_text, value))
    return (value,) if _is_text(value) and value else ()


def _notes(path: Path, value: Any) -> tuple[Note, ...]:
    entries = enumerate(value) if isinstance(value, list) else ()
    return tuple(
        Note(
            name=_text(one.get("name")) or "",
            path=(*path, index),
            text=_text(one.get("note")) or _text(one.get("description")) or "",
            values=tuple(filter(_is_text, one["values"])) if isinstance(one.get("values"), list) else (),
        )
        for index, one in entries
        if isinstance(one, Mapping)
    )


def _truths(value: Any) -> dict[str, bool]:
    given = value.items() if isinstance(value, Mapping) else ()
    return {str(key): one for key, one in given if isinstance(one, bool)}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
