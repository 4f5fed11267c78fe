"""Manifests by the hundred for hypothesis: good ones of many shapes, and changes that may or may not break them."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

from tests.manifest.mistakes import TEXT
from tests.manifest.samples import GOOD
from yazcore.manifest.words import UNPRINTABLE

Path = tuple[str | int, ...]

letters = st.characters(exclude_categories=("C", "Z"), exclude_characters=list(UNPRINTABLE))
lines = st.text(letters, min_size=1, max_size=8) | st.sampled_from(["a b", "ä\u00a0ß", "字", "x" * 100])
pages = lines | st.sampled_from(["two\nlines", "\ta", "\u200fشكرا", "x" * 1000])
names = st.sampled_from(["a", "b2", "search-library", "cite_item", "x1-y2_z3", "refs", "tag", "list-all", "q"])
keys = st.sampled_from(["k", "K", "tool-search", "Why_not-2", "a" * 100])
words = st.sampled_from(["read", "write", "a-", "r2-d2", "w" * 48])
versions = st.sampled_from(["0", "0.1.0", "v1.0RC-1", "1!2.3.post4+local.5", "1.0-7", "1.0_dev", "10.0.Alpha2.dev3"])
old_versions = st.sampled_from(["0", "0.1.0", "0.2.0", "0.2.0rc1", "0.2.dev3"])
types = st.sampled_from(["read", "write"])


def record(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


def some(entries: st.SearchStrategy[Any], least: int = 1) -> st.SearchStrategy[list[Any]]:
    return st.lists(entries, min_size=least, max_size=3)


REASON = {"reasonKey": keys, "optional": st.booleans()}
folders = st.sampled_from(["~/Notes", "/srv/notes", "/srv/a/./b/", "~/a b"])
places = record({"place": names}, {"suggest": some(folders)}) | record({"path": folders}, {})


def with_kind(kind: str, entry: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(entry, record({}, REASON)).map(lambda pair: {"kind": kind, **pair[0], **pair[1]})


KINDS = (
    with_kind(
        "fs-project", record({}, {"access": types, "paths": some(st.sampled_from(["refs.bib", "a/b/", "ä", " a"]))})
    ),
    with_kind("fs-read", places),
    with_kind("fs-write", places),
    with_kind(
        "net",
        record(
            {"hosts": some(st.sampled_from(["a.org", "api.zotero.org.", "müller.de", "8.8.8.8", "2606:4700::1111"]))},
            {
                "ports": some(st.integers(1, 65535)),
                "private": st.booleans(),
                "readMethods": some(st.sampled_from(["GET", "POST", "REPORT"])),
            },
        ),
    ),
    with_kind("process", record({"commands": some(st.sampled_from(["latexmk", "python3.11", "g++"]))}, {})),
    with_kind("mcp-client", record({"servers": some(st.sampled_from(["a", "B.c-d_e"]))}, {"tools": some(names)})),
    with_kind("credential", record({"names": some(names)}, {})),
)
capabilities = st.lists(st.integers(0, len(KINDS) - 1), unique=True, max_size=4).flatmap(
    lambda chosen: st.tuples(*(KINDS[index] for index in chosen)).map(list)
)

values = some(st.text(letters, max_size=5))
schemas = st.sampled_from([{"type": "string"}, {"type": "integer", "maximum": 50}, {}, True, {"enum": [1, None, 2.5]}])
SCOPES = st.sampled_from(["global", "project"])


@st.composite
def tools(draw: st.DrawFn, actions: list[str]) -> dict[str, Any]:
    scope = draw(SCOPES)
    properties = draw(st.dictionaries(words, schemas, max_size=3))
    schema: dict[str, Any] = {"type": "object", "additionalProperties": False}
    if properties and draw(st.booleans()):
        del schema["additionalProperties"]
    if scope == "project":
        properties["projectId"] = {"type": "string", **draw(record({}, {"maxLength": st.integers(1, 50)}))}
        schema["required"] = ["projectId"]
    if properties:
        schema["properties"] = properties
    posture = draw(types)
    effects = {"idempotent": st.booleans(), "external": st.booleans()}
    if posture == "write":
        effects["destructive"] = st.booleans()
    notes = {"values": values, "shape": lines, "note": pages}
    noted = st.lists(st.sampled_from(sorted(properties)), unique=True, max_size=2) if properties else st.just([])
    rest = draw(
        record(
            {"name": names, "descriptionKey": keys, "permission": st.sampled_from(actions)},
            {
                "outputSchema": st.sampled_from([{"type": "object"}, {"type": "object", "properties": {}}]),
                "params": noted.flatmap(
                    lambda some_of: st.tuples(*(record({"name": st.just(name)}, notes) for name in some_of)).map(list)
                ),
                "effect": record({}, effects),
                "approval": st.sampled_from(["none", "ask"]),
                "deadlineSeconds": st.integers(1, 600),
                "maxResult": st.integers(1, 2**21),
            },
        )
    )
    return {**rest, "scope": scope, "posture": posture, "inputSchema": schema}


@st.composite
def resources(draw: st.DrawFn, plugin: str, actions: list[str], index: int) -> dict[str, Any]:
    entry = draw(
        record(
            {"nameKey": keys, "descriptionKey": keys, "permission": st.sampled_from(actions)},
            {
                "mimeType": st.sampled_from(["text/plain", "application/json; charset=utf-8"]),
                "cache": record({}, {"ttlMs": st.integers(0, 10**9), "scope": st.sampled_from(["private", "public"])}),
            },
        )
    )
    if draw(st.booleans()):
        rest = draw(st.sampled_from(["a", "a.b/c", "caf%C3%A9/@x:1", "..a"]))
        return {**entry, "scope": "global", "uri": f"yaz://{plugin}/{index}/{rest}"}
    scope = draw(SCOPES)
    names_in = ["projectId", "key"] if scope == "project" else ["key"]
    forms = {
        "project": ["{projectId}/{key}", "a{+projectId}-{key}.x", "x/{key}/.{projectId}"],
        "global": ["{key}", "a/{+key}/b", ".{key}"],
    }
    template = f"yaz://{plugin}/{index}/{draw(st.sampled_from(forms[scope]))}"
    variables = [{"name": name, **draw(record({"note": pages}, {"values": values}))} for name in names_in]
    return {**entry, "scope": scope, "uriTemplate": template, "variables": variables}


@st.composite
def prompts(draw: st.DrawFn, actions: list[str]) -> dict[str, Any]:
    scope = draw(SCOPES)
    asked = draw(st.lists(words, unique=True, max_size=2))
    given = [{"name": name, **draw(record({"note": pages}, {"required": st.booleans()}))} for name in asked]
    if scope == "project":
        given.append({"name": "projectId", "note": "from list_projects", "required": True})
    rest = draw(record({"name": names, "descriptionKey": keys, "permission": st.sampled_from(actions)}, {}))
    return {**rest, "scope": scope, **({"arguments": given} if given or draw(st.booleans()) else {})}


@st.composite
def settings(draw: st.DrawFn) -> dict[str, Any]:
    defaults = {
        "string": pages,
        "boolean": st.booleans(),
        "integer": st.integers(-(2**53), 2**53),
        "number": st.integers(-5, 5) | st.sampled_from([0.5, -2.25e10]),
    }
    chosen = draw(st.sampled_from(sorted(defaults)))
    entry = draw(record({"key": names, "descriptionKey": keys}, {"default": defaults[chosen]}))
    return {**entry, "type": chosen}


def unique(entries: list[Any], key: str) -> list[Any]:
    return list({entry[key].lower().replace("-", "_"): entry for entry in entries}.values())


@st.composite
def manifests(draw: st.DrawFn) -> dict[str, Any]:
    """A manifest that breaks no rule of `samples.CONTRACT`."""
    plugin = draw(st.sampled_from(["notes", "a", "zotero-2", "abcdefghij-klmnopqrst-uvw"[:24]]))
    actions = [f"{plugin}:{word}" for word in draw(st.lists(words, unique=True, min_size=1, max_size=2))]
    document = draw(
        record(
            {
                "contract": st.just(1),
                "id": st.just(plugin),
                "name": lines,
                "version": versions,
                "minAppVersion": old_versions,
                "author": lines,
                "description": pages,
                "module": st.sampled_from(["a:B", "yaz_plugin_a.b._c:_D1"]),
            },
            {
                "$schema": st.text(letters),
                "icon": st.sampled_from(["Z", "字", "✏️", "📚"]),
                "repository": st.sampled_from(["https://a.org", "https://a-b.org:8443/c?d#e", "https://[::1]/x"]),
                "license": lines,
                "locales": st.sampled_from(["locales", "i18n_2"]),
                "capabilities": capabilities,
                "updates": st.just({"source": "pypi"}),
            },
        )
    )
    document["permissions"] = [{"action": action, "descriptionKey": draw(keys)} for action in actions]
    provides = {
        "commands": unique(draw(st.lists(record({"id": names, "nameKey": keys}, {}), max_size=2)), "id"),
        "formats": [
            {"id": f"format-{index}", "nameKey": draw(keys), "extensions": [f".e{index}", f".x.{index}"]}
            for index in range(draw(st.integers(0, 2)))
        ],
        "tools": unique(draw(st.lists(tools(actions), max_size=2)), "name"),
        "resources": [draw(resources(plugin, actions, index)) for index in range(draw(st.integers(0, 2)))],
        "prompts": unique(draw(st.lists(prompts(actions), max_size=2)), "name"),
        "settings": unique(draw(st.lists(settings(), max_size=2)), "key"),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(provides))))
    if chosen or draw(st.booleans()):
        document["provides"] = {key: provides[key] for key in sorted(chosen)}
    return document


# -- changes ---------------------------------------------------------------------------------------------------------


def places_in(document: Any, path: Path = ()) -> list[Path]:
    """The path of every value, the whole apart."""
    is_list = isinstance(document, list)
    pairs = enumerate(document) if is_list else document.items() if isinstance(document, dict) else ()
    inner = [place for key, value in pairs for place in places_in(value, (*path, key))]
    return [path, *inner] if path else inner


ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 601, 65536, 2**21 + 1, 2**63, 1.5, "", " ", "*", "a*", "?", "\x00", "\x1b[2J",
    "\u202e", "\ufeff", "..", ".", "/", "~", "a/../b", "a\\b", "read", "write", "global", "project", "ask", "string",
    "integer", "number", "object", "yaz", "core:read", "a:B", "http://a.org", "https://a.org", "https://u@a.org", "yaz://notes/a",
    "yaz://", "yaz://notes/{a}", "yaz://notes/{a}{b}", "yaz://notes/..", "yaz://notes/a?b", "other://notes/a",
    "1.0-beta-1-x", "1..0", "é", "x" * 25, "x" * 49, "x" * 101, "x" * 201, "x" * 256, "x" * 1001, "x" * 2001, "GET",
    "DELETE", "get", ".org", "projectId", [], {}, [[]], [""], ["a", "a"], [1], [None], {"a": 1}, {"type": "object"},
    {"kind": "net", "hosts": ["a.org"]},
)  # fmt: skip
"""Values that are wrong nearly everywhere, and right somewhere."""

ADDED = ("_", "-", "__", "A", " ", "/", ":", "*", "é", "٣", "\x1b", "\u202e", "x" * 50, "{a}", "%", "..")
KEYS = (
    "x", "name", "kind", "values", "default", "scope", "required", "uri", "uriTemplate", "path", "place", "suggest",
    "note",
)  # fmt: skip


GOODS = (GOOD, json.loads(TEXT))


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """A good manifest that uses everything, with one to three changes, each of which may break a rule."""
    document = copy.deepcopy(draw(st.sampled_from(GOODS)))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places_in(document)))
        inner: Any = document
        for part in path[:-1]:
            inner = inner[part]
        change(draw, inner, path[-1])
    return document


def change(draw: st.DrawFn, holder: Any, key: Any) -> None:
    value = holder[key]
    way = draw(st.sampled_from(["odd", "odd", "more", "gone"]))
    if way == "gone":
        del holder[key]
    elif way == "odd":
        holder[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
    elif isinstance(value, str):
        added = draw(st.sampled_from(ADDED))
        holder[key] = draw(st.sampled_from([value + added, added + value, value.upper(), value[:-1]]))
    elif isinstance(value, dict):
        value[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(st.sampled_from(ODD)))
    elif isinstance(value, list):
        value.append(copy.deepcopy(draw(st.sampled_from([*ODD, *value]))))
    elif isinstance(value, bool) or value is None:
        holder[key] = not value
    else:
        holder[key] = draw(st.sampled_from([-value, value + 1, value * 1000]))
