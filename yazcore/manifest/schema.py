"""The JSON Schema of a manifest, 2020-12, made from the classes that reading fills and from a host's contract.

    python -m yazcore.manifest.schema [MODULE:CONTRACT]

prints it; without an argument that of yaz, which is published as `manifest.schema.json` beside this page. msgspec says
of what types the fields are, and is loaded when a schema is made; patterns and bounds are those that the rules ask.

Whatever a schema refuses, reading refuses. The other way round there is more that only reading can see: how the bytes
were written, what one part says of another, what depends on the host (`docs/manifest.md` lists it).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any, get_args

import attrs

from yazcore.contract import Contract
from yazcore.declarations import PermissionDeclaration, SettingDeclaration
from yazcore.kinds import Capability
from yazcore.manifest.model import Manifest
from yazcore.manifest.records import MOST_ENTRIES, camel, fields_of
from yazcore.manifest.schema_bounds import DIALECT
from yazcore.manifest.schema_keywords import conditions, field_keywords
from yazcore.manifest.schema_texts import TEXTS

PUBLISHED = "manifest.schema.json"
"""The file with the schema of yaz's own contract, in this folder and in `docs`."""

_YAZ = "yazcore.writing.contract:YAZ"
_APART = frozenset({"capabilities", "permissions", "provides"})
_REFERENCE = "#/$defs/"


def schema(contract: Contract) -> dict[str, Any]:
    """The schema of the manifests that a host with this contract accepts, as plain JSON data."""
    declarations = {kind.key: kind.declaration for kind in contract.contribution_kinds}
    declarations["settings"] = SettingDeclaration
    records = list(dict.fromkeys(_records([PermissionDeclaration, *declarations.values()])))
    classes = [Manifest, *_nested(Manifest), *records, *contract.capability_kinds]
    components = _components(classes)
    finished = {cls: _finished(cls, component, contract) for cls, (_, component) in components.items()}
    references = {cls: {"$ref": _REFERENCE + name} for cls, (name, _) in components.items()}
    for kind in contract.capability_kinds:
        finished[kind] = _with_kind(kind, finished[kind])

    root = finished[Manifest]
    properties = root["properties"]
    properties["contract"] = {**properties["contract"], "const": contract.number}
    kinds = [references[kind] for kind in contract.capability_kinds]
    properties["capabilities"] = {**_list_of({"oneOf": kinds} if kinds else False), **_said(Manifest, "capabilities")}
    properties["permissions"] = {**_list_of(references[PermissionDeclaration]), **_said(Manifest, "permissions")}
    properties["provides"] = {
        "type": "object",
        "properties": {
            key: {**_list_of(references[cls]), **_said(Manifest, f"provides.{key}")}
            for key, cls in declarations.items()
        },
        "additionalProperties": False,
        **_said(Manifest, "provides"),
    }
    return {
        "$schema": DIALECT,
        "title": f"Manifest of a plugin for {contract.host}, contract {contract.number}",
        **root,
        "properties": {"$schema": {"type": "string", **_said(Manifest, "$schema")}, **properties},
        "$defs": {name: finished[cls] for cls, (name, _) in components.items() if cls is not Manifest},
    }


def written(found: Mapping[str, Any]) -> str:
    """A schema as the text of a file."""
    return json.dumps(found, indent=2) + "\n"


# -- what msgspec says, finished in two steps ------------------------------------------------------------------------


def _nested(cls: type) -> Iterator[type]:
    """The classes of a manifest's parts inside a class's fields, those apart that a contract says."""
    for field in fields_of(cls):
        if cls is not Manifest or field.name not in _APART:
            yield from _records(_classes_in(field.hint))


def _records(classes: Iterable[type]) -> Iterator[type]:
    for cls in classes:
        yield cls
        yield from _nested(cls)


def _classes_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and attrs.has(hint):
        yield hint
    for inner in get_args(hint):
        yield from _classes_in(inner)


def _components(classes: Sequence[type]) -> dict[type, tuple[str, dict[str, Any]]]:
    """The name and the schema that msgspec gives each class."""
    import msgspec

    references, components = msgspec.json.schema_components(classes, ref_template=_REFERENCE + "{name}")
    names = [reference["$ref"].removeprefix(_REFERENCE) for reference in references]
    return {cls: (name, components[name]) for cls, name in zip(classes, names, strict=True)}


def _finished(cls: type, component: Mapping[str, Any], contract: Contract) -> dict[str, Any]:
    """First the keys as they are written and no others, then what the rules ask of each, and of the whole."""
    keywords = field_keywords(cls, contract)
    properties = {}
    for name, plain in component["properties"].items():
        properties[camel(name)] = _joined(_without_null(plain), keywords.get(name, {}), _said(cls, name))
    return {
        **({"description": component["description"]} if "description" in component else {}),
        **_said(cls, ""),
        "type": "object",
        "properties": properties,
        "required": [camel(name) for name in component["required"]],
        "additionalProperties": False,
        **conditions(cls, contract),
    }


def _without_null(plain: Mapping[str, Any]) -> dict[str, Any]:
    """What is optional may be left out; null is no way to say so."""
    found = dict(plain)
    match found.get("default", ...):
        case None:
            del found["default"]
        case dict(values):
            found["default"] = {camel(name): value for name, value in values.items()}
        case tuple(values):
            found["default"] = list(values)
    members = [member for member in found.pop("anyOf", ()) if member != {"type": "null"}]
    if len(members) == 1:
        return {**members[0], **found}
    if members and all(member.keys() == {"type"} for member in members):
        return {"type": [member["type"] for member in members], **found}
    return {"anyOf": members, **found} if members else found


def _joined(plain: dict[str, Any], keywords: Mapping[str, Any], said: Mapping[str, str]) -> dict[str, Any]:
    found = {**plain, **keywords, **said}
    if plain.get("type") == "array":
        found["maxItems"] = MOST_ENTRIES
        found["items"] = {**plain.get("items", {}), **keywords.get("items", {})}
    return found


def _list_of(entry: Any) -> dict[str, Any]:
    return {"type": "array", "items": entry, "maxItems": MOST_ENTRIES, "default": []}


def _with_kind(kind: type[Capability], found: dict[str, Any]) -> dict[str, Any]:
    """A capability's schema with the word that says of which kind it is."""
    properties = {"kind": {"const": kind.kind, **_said(Capability, "kind")}, **found["properties"]}
    return {**found, "properties": properties, "required": ["kind", *found["required"]]}


def _said(cls: type, name: str) -> dict[str, str]:
    """What people read of a field, or under the empty name of the class, where there is something to read."""
    text = next((TEXTS[one][name] for one in cls.__mro__ if name in TEXTS.get(one, ())), None)
    return {} if text is None else {"description": text}


def main(arguments: Sequence[str]) -> None:
    """Print the schema of the contract that is named, else of yaz's."""
    name = arguments[0] if arguments else _YAZ
    try:
        contract = resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        contract = None
    if not isinstance(contract, Contract) or len(arguments) > 1:
        sys.exit(f"there is no contract {name}: name one as MODULE:CONTRACT, as in {_YAZ}")
    sys.stdout.write(written(schema(contract)))


if __name__ == "__main__":
    main(sys.argv[1:])
