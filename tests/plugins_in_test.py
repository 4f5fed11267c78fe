"""Plugins that tests make: package folders with a manifest, message files and code, on disk as real ones are."""

from __future__ import annotations

import importlib
import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_numbers = itertools.count()

CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}


def tool(name: str, **more: Any) -> dict[str, Any]:
    """A tool's manifest entry: read, global, needing `<plugin>:read`; the message key is `text`."""
    return {
        "name": name, "descriptionKey": "text", "posture": "read", "scope": "global", "permission": "demo:read",
        "inputSchema": CLOSED, **more,
    }  # fmt: skip


def manifest(plugin_id: str = "demo", *, contract: int = 3, version: str = "1.0", **more: Any) -> dict[str, Any]:
    """A manifest for the console's contract; `provides` and others as given."""
    return {
        "contract": contract,
        "id": plugin_id,
        "name": plugin_id.title(),
        "version": version,
        "minAppVersion": "1.0",
        "author": "Anna",
        "description": "A plugin of a test.",
        "module": "to.be:set",
        "locales": "locales",
        "permissions": [
            {"action": f"{plugin_id}:read", "descriptionKey": "text"},
            {"action": f"{plugin_id}:write", "descriptionKey": "text"},
        ],
        **more,
    }


@contextmanager
def plugin_folder(
    folder: Path, document: Mapping[str, Any], code: str, messages: Mapping[str, str] | None = None
) -> Iterator[Path]:
    """Write a plugin package below `folder`, put it on the path, and give the package's folder.

    `code` is the module `plugin.py`; the class `Plugin` in it is the plugin.
    """
    package = f"test_plugin_{next(_numbers)}"
    where = folder / package
    (where / "locales").mkdir(parents=True)
    (where / "__init__.py").write_text("")
    (where / "plugin.py").write_text(code)
    (where / "manifest.json").write_text(json.dumps({**document, "module": f"{package}.plugin:Plugin"}))
    for locale, text in (messages or {"en-US": "text = A text\n"}).items():
        (where / "locales" / f"{locale}.ftl").write_text(text)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield where
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            del sys.modules[name]
