"""The document: its parts as classes, and the JSON Schema that is made from them.

    python -m yazcore.registry.document

prints the schema, which is published as `registry.schema.json` beside this page and in `docs`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, Literal

import attrs

from yazcore.design_rules.rule import Counts
from yazcore.manifest.records import camel
from yazcore.manifest.schema_bounds import DIALECT
from yazcore.violations import Violation

FORMAT = 1
"""The number of the document's form; raised when whoever reads it would have to change."""

PUBLISHED = "registry.schema.json"
"""The file with the schema, in this folder and in `docs`."""

_REFERENCE = "#/$defs/"


@attrs.frozen(kw_only=True)
class Wheel:
    """One file that brings a version: its path below the folder, its size in bytes, its SHA-256 in hex."""

    name: str
    size: int
    sha256: str


@attrs.frozen(kw_only=True)
class Asked:
    """One capability that it asks for, as an English sentence that continues "it asks to". Sensitive ones are first."""

    kind: str
    sentence: str
    sensitive: bool
    optional: bool


@attrs.frozen(kw_only=True)
class Version:
    """One version of a plugin: what `yaz preview --json` shows, and what people and agents would read.

    `asks` are its capabilities in words; `texts` what its message keys say, by locale and key; `digests` those of its
    tools, resources and prompts that a grant keeps; `findings` how many the design rules have. `wheels` is empty where
    it was only found installed. `violations` are warnings: what has errors is no version here.
    """

    version: str
    distribution: str
    wheels: tuple[Wheel, ...]
    asks: tuple[Asked, ...]
    manifest: Mapping[str, Any]
    texts: Mapping[str, Mapping[str, str]]
    digests: Mapping[str, str]
    findings: Counts
    requires: tuple[str, ...]
    files: tuple[str, ...]
    violations: tuple[Violation, ...]


@attrs.frozen(kw_only=True)
class Changed:
    """One thing that changes from a version to the next, as in `yaz diff --json`."""

    what: str
    name: str
    change: Literal["added", "removed", "changed"]
    old: Any
    new: Any


@attrs.frozen(kw_only=True)
class Diff:
    """How a version differs from the one before it; `needs_consent`: whether it waits for the user's yes."""

    old: str
    new: str
    verdict: Literal["same", "narrower", "changed", "wider"]
    needs_consent: bool
    changes: tuple[Changed, ...]


@attrs.frozen(kw_only=True)
class Plugin:
    """One plugin: what its newest version says of it, every version, oldest first, and the diffs between them."""

    id: str
    name: str
    author: str
    description: str
    latest: str
    versions: tuple[Version, ...]
    diffs: tuple[Diff, ...]


@attrs.frozen(kw_only=True)
class Wrong:
    """One thing that is wrong: a stable code, what, and how to mend it."""

    code: str
    message: str
    fix: str


@attrs.frozen(kw_only=True)
class LeftOut:
    """A wheel, or an installed distribution, that is no version of any plugin here, and why."""

    name: str
    faults: tuple[Wrong, ...]


@attrs.frozen(kw_only=True)
class Registry:
    """The whole document. `host` and `contract` say for which application; plugins are sorted by their ids."""

    format: int = FORMAT
    host: str
    contract: int
    plugins: tuple[Plugin, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The document as plain data."""
        document: dict[str, Any] = _as_json(self)
        return document


def _as_json(value: Any) -> Any:
    if attrs.has(type(value)):
        return {camel(field.name): _as_json(getattr(value, field.name)) for field in attrs.fields(type(value))}
    return [_as_json(inner) for inner in value] if isinstance(value, tuple) else value


# -- its schema ------------------------------------------------------------------------------------------------------

_CLASSES = (Registry, Plugin, Version, Wheel, Asked, Counts, Violation, Diff, Changed, LeftOut, Wrong)


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the document: msgspec says the types, every key is there, and there is no other."""
    import msgspec

    _, components = msgspec.json.schema_components(_CLASSES, ref_template=_REFERENCE + "{name}")
    closed = {name: _closed(component) for name, component in components.items()}
    whole = closed.pop(Registry.__name__)
    whole["properties"]["format"]["const"] = FORMAT
    return {"$schema": DIALECT, "title": "Registry of plugins", **whole, "$defs": closed}


def _closed(component: Mapping[str, Any]) -> dict[str, Any]:
    """An object with its keys as they are written: each of them, and no others."""
    properties = {
        camel(name): {key: value for key, value in plain.items() if key != "default"}
        for name, plain in component["properties"].items()
    }
    said = " ".join(component.get("description", "").split())
    return {
        "description": said, "type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False,
    }  # fmt: skip


def written(document: Mapping[str, Any]) -> str:
    """The document, or its schema, as the text of a file."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(written(schema()))
