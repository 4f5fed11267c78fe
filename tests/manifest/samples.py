"""Manifests for tests: one good one, and ways to spoil it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from yazcore.contract import Contract
from yazcore.manifest.model import Manifest
from yazcore.manifest.reading import Reading, read
from yazcore.permissions import GLOBAL, PROJECT
from yazcore.violations import Violation

CONTRACT = Contract(
    number=1,
    group="yaz.manifest",
    prefix="yaz-plugin-",
    host="yaz",
    version="0.2.0",
    scope_kinds=(GLOBAL, PROJECT),
)

PROJECT_ID = {"type": "string", "description": "from list_projects"}

GOOD: dict[str, Any] = {
    "contract": 1,
    "id": "zotero",
    "name": "Zotero",
    "version": "0.1.0",
    "minAppVersion": "0.1.0",
    "author": "Anna",
    "description": "Searches a Zotero library and cites from it.",
    "icon": "Z",
    "repository": "https://example.org/anna/yaz-plugin-zotero",
    "license": "MIT",
    "module": "yaz_plugin_zotero.plugin:ZoteroPlugin",
    "locales": "locales",
    "capabilities": [
        {"kind": "fs-project", "access": "write", "reasonKey": "why-project"},
        {"kind": "net", "hosts": ["api.zotero.org"], "optional": True, "reasonKey": "why-web"},
    ],
    "permissions": [
        {"action": "zotero:read", "descriptionKey": "permission-read"},
        {"action": "zotero:write", "descriptionKey": "permission-write"},
    ],
    "provides": {
        "commands": [{"id": "cite", "nameKey": "command-cite"}],
        "formats": [{"id": "bib", "nameKey": "format-bib", "extensions": [".bib"]}],
        "tools": [
            {
                "name": "search-library",
                "descriptionKey": "tool-search",
                "posture": "read",
                "scope": "global",
                "permission": "zotero:read",
                "params": [{"name": "query", "note": "words, or a citation key"}],
                "inputSchema": {
                    "type": "object",
                    "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "maximum": 50}},
                    "required": ["query"],
                    "additionalProperties": False,
                },
                "outputSchema": {"type": "object"},
            },
            {
                "name": "cite-item",
                "descriptionKey": "tool-cite",
                "posture": "write",
                "scope": "project",
                "permission": "zotero:write",
                "effect": {"idempotent": True},
                "inputSchema": {
                    "type": "object",
                    "properties": {"projectId": PROJECT_ID, "key": {"type": "string"}},
                    "required": ["projectId", "key"],
                    "additionalProperties": False,
                },
            },
        ],
        "resources": [
            {
                "uriTemplate": "yaz://zotero/library/{library}/item/{key}",
                "nameKey": "resource-item",
                "descriptionKey": "resource-item-long",
                "mimeType": "application/json",
                "scope": "global",
                "permission": "zotero:read",
                "variables": [{"name": "library", "note": "a library"}, {"name": "key", "note": "an item's key"}],
                "cache": {"ttlMs": 5000},
            },
            {
                "uri": "yaz://zotero/libraries",
                "nameKey": "resource-libraries",
                "descriptionKey": "resource-libraries-long",
                "scope": "global",
                "permission": "zotero:read",
            },
        ],
        "prompts": [
            {
                "name": "review",
                "descriptionKey": "prompt-review",
                "scope": "global",
                "permission": "zotero:read",
                "arguments": [{"name": "topic", "note": "what about", "required": True}],
            }
        ],
        "settings": [
            {"key": "bibliography", "type": "string", "default": "references.bib", "descriptionKey": "setting"}
        ],
    },
    "updates": {"source": "pypi"},
}
"""A manifest that uses everything there is, and breaks no rule."""


def good() -> dict[str, Any]:
    """A copy of `GOOD`, to be changed."""
    return copy.deepcopy(GOOD)


def text(document: Any) -> bytes:
    """A document as the bytes of a file."""
    return json.dumps(document, indent=2, ensure_ascii=False).encode("utf-8")


def reading(document: Any, contract: Contract = CONTRACT, **more: Any) -> Reading:
    """The document, read."""
    return read(text(document), contract, **more)


def manifest_of(document: Any, contract: Contract = CONTRACT, **more: Any) -> Manifest:
    """The manifest of a document that breaks no rule."""
    found = reading(document, contract, **more)
    assert found.violations == ()
    assert found.manifest is not None
    return found.manifest


def broken(change: Callable[[dict[str, Any]], object], contract: Contract = CONTRACT, **more: Any) -> list[Violation]:
    """The violations of the good manifest after a change."""
    document = good()
    change(document)
    return list(reading(document, contract, **more).violations)


def codes(violations: list[Violation] | tuple[Violation, ...]) -> list[tuple[str, str]]:
    """(code, pointer) of each violation."""
    return [(one.code, one.pointer) for one in violations]


def only(violations: list[Violation] | tuple[Violation, ...]) -> Violation:
    """The one violation there is."""
    assert len(violations) == 1, [one.as_json() for one in violations]
    return violations[0]


def said(violation: Violation) -> str:
    """What a person reads of a violation."""
    return f"{violation.message}. {violation.fix}"
