"""What the rules ask of a manifest, as far as JSON Schema can say it: by field, and of an entry as a whole.

Patterns and bounds are the rules' own; what is said here in another way, a test holds against reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.contract import Contract
from yazcore.declarations import (
    Cache,
    FormatDeclaration,
    Param,
    PermissionDeclaration,
    PromptArgument,
    PromptDeclaration,
    ResourceDeclaration,
    SettingDeclaration,
    ToolDeclaration,
    Variable,
)
from yazcore.kinds import Capability
from yazcore.kinds.base import some_of, whole_text
from yazcore.manifest import address_rules, contribution_rules, names, note_rules, rules
from yazcore.manifest.model import Manifest
from yazcore.manifest.words import HARMFUL, UNPRINTABLE

Keywords = Mapping[str, Any]


def _saying(forbidden: str, longest: int) -> Keywords:
    """A text without these characters that says something, of at most so many characters."""
    return {"pattern": r"\S", **_without(forbidden, longest)}


def _without(forbidden: str, longest: int) -> Keywords:
    return {"not": {"type": "string", "pattern": f"[{forbidden}]"}, "maxLength": longest}


_LINE = _saying(UNPRINTABLE, rules.LONGEST_LINE)
_KEY = whole_text(names.MESSAGE_KEY, names.LONGEST_KEY)
_NAME = whole_text(names.NAME, names.LONGEST_NAME)
_VERSION = whole_text(names.VERSION, names.LONGEST_VERSION)
_NOTE = _saying(HARMFUL, note_rules.LONGEST_NOTE)
_VALUE = _without(UNPRINTABLE, note_rules.LONGEST_VALUE)
_ACTION = {
    "pattern": f"^{names.ID.pattern}:{names.ACTION_WORD.pattern}$",
    "allOf": [{"pattern": f"^.{{1,{names.LONGEST_ID}}}:.{{1,{names.LONGEST_NAME}}}$"}],
}
_CLOSED = {"required": ["additionalProperties"], "properties": {"additionalProperties": {"const": False}}}
_WITH_PROPERTIES = {"required": ["properties"], "properties": {"properties": {"type": "object", "minProperties": 1}}}
_OBJECT = {"required": ["type"], "properties": {"type": {"const": "object"}}}

_FIELDS: Mapping[type, Mapping[str, Keywords]] = {
    Manifest: {
        "id": whole_text(names.ID, names.LONGEST_ID),
        "name": _LINE,
        "version": _VERSION,
        "min_app_version": _VERSION,
        "author": _LINE,
        "description": _saying(HARMFUL, rules.LONGEST_PAGE),
        "icon": whole_text(rules.ICON),
        "repository": whole_text(rules.REPOSITORY, rules.LONGEST_URL),
        "license": _LINE,
        "module": whole_text(rules.MODULE, rules.LONGEST_MODULE),
        "locales": whole_text(rules.FOLDER),
    },
    PermissionDeclaration: {"action": _ACTION, "description_key": _KEY},
    FormatDeclaration: {
        "extensions": {
            **some_of(whole_text(contribution_rules.EXTENSION, contribution_rules.LONGEST_EXTENSION)),
            "uniqueItems": True,
        }
    },
    Param: {"values": some_of(_VALUE), "shape": _VALUE, "note": _NOTE},
    ToolDeclaration: {
        "input_schema": {**_OBJECT, "anyOf": [_WITH_PROPERTIES, _CLOSED]},
        "output_schema": _OBJECT,
        "deadline_seconds": {"minimum": 1, "maximum": contribution_rules.LONGEST_DEADLINE},
        "max_result": {"minimum": 1, "maximum": contribution_rules.LARGEST_RESULT},
    },
    Variable: {"name": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}, "note": _NOTE, "values": some_of(_VALUE)},
    Cache: {"ttl_ms": {"minimum": 0, "maximum": address_rules.LONGEST_TTL}},
    ResourceDeclaration: {"mime_type": whole_text(address_rules.MIME, address_rules.LONGEST_MIME)},
    PromptArgument: {"name": whole_text(note_rules.ARGUMENT), "note": _NOTE},
    SettingDeclaration: {
        "default": _without(HARMFUL, contribution_rules.LONGEST_DEFAULT)
    },
}


def field_keywords(cls: type, contract: Contract) -> Mapping[str, Keywords]:
    """What the rules ask of each field of a class, by the field's name: keywords beside those of its type."""
    if issubclass(cls, Capability):
        return {"reason_key": _KEY, **cls.schema_keywords}
    found = dict(_FIELDS.get(cls, {}))
    if cls is ResourceDeclaration:
        schemes = (address_rules.SCHEME, *contract.schemes)
        found["uri"] = whole_text(address_rules.address_form_of(schemes, template=False), address_rules.LONGEST_ADDRESS)
        template = whole_text(address_rules.address_form_of(schemes, template=True), address_rules.LONGEST_ADDRESS)
        found["uri_template"] = {**template, "allOf": [{"pattern": r"\{"}]}
    if cls is SettingDeclaration or any(kind.declaration is cls for kind in contract.contribution_kinds):
        return {**_of_any_contribution(cls, contract), **found}
    return found


def _of_any_contribution(cls: type, contract: Contract) -> Mapping[str, Keywords]:
    """What the rules ask of the fields that contributions of every kind may have, a host's own kinds too."""
    found: dict[str, Keywords] = {
        "name_key": _KEY,
        "description_key": _KEY,
        "permission": _ACTION,
        "scope": {"enum": [kind.name for kind in contract.scope_kinds]},
    }
    if (field := contribution_rules.name_field(cls)) is not None:
        found[field] = _NAME
    fields = {field.name for field in attrs.fields(cls)}
    return {name: keywords for name, keywords in found.items() if name in fields}


# -- of an entry as a whole ------------------------------------------------------------------------------------------


def conditions(cls: type, contract: Contract) -> Keywords:
    """What the rules ask of an object of a class as a whole: keywords beside its properties."""
    if issubclass(cls, Capability):
        return cls.schema_keywords.get("", {})
    asked = {
        ToolDeclaration: _of_tools,
        PromptDeclaration: _of_prompts,
        ResourceDeclaration: _of_resources,
        SettingDeclaration: _of_settings,
    }
    return asked[cls](contract) if cls in asked else {}


def _when(key: str, value: str, then: Keywords) -> Keywords:
    return {"if": {"required": [key], "properties": {key: {"const": value}}}, "then": then}


def _scopes_with_ids(contract: Contract) -> list[tuple[str, str]]:
    return [(kind.name, kind.argument) for kind in contract.scope_kinds if kind.argument is not None]


def _of_tools(contract: Contract) -> Keywords:
    harmless = {"properties": {"effect": {"properties": {"destructive": {"const": False}}}}}
    return {"allOf": [_when("posture", "read", harmless), *(_takes(*scope) for scope in _scopes_with_ids(contract))]}


def _takes(scope: str, argument: str) -> Keywords:
    text = {"type": "object", "required": ["type"], "properties": {"type": {"const": "string"}}}
    wanted = {
        "required": ["properties", "required"],
        "properties": {
            "properties": {"type": "object", "required": [argument], "properties": {argument: text}},
            "required": {"type": "array", "contains": {"const": argument}},
        },
    }
    return _when("scope", scope, {"properties": {"inputSchema": wanted}})


def _of_prompts(contract: Contract) -> Keywords:
    scopes = _scopes_with_ids(contract)
    return {"allOf": [_asks(*scope) for scope in scopes]} if scopes else {}


def _asks(scope: str, argument: str) -> Keywords:
    given = {"name": {"const": argument}, "required": {"const": True}}
    wanted = {"required": list(given), "properties": given}
    return _when("scope", scope, {"required": ["arguments"], "properties": {"arguments": {"contains": wanted}}})


def _of_resources(contract: Contract) -> Keywords:
    found: dict[str, Any] = {
        "oneOf": [{"required": ["uri"]}, {"required": ["uriTemplate"]}],
        "dependentRequired": {"uriTemplate": ["variables"]},
        "dependentSchemas": {"uri": {"properties": {"variables": {"maxItems": 0}}}},
    }
    if scopes := _scopes_with_ids(contract):
        found["allOf"] = [_is_named_by(*scope) for scope in scopes]
    return found


def _is_named_by(scope: str, argument: str) -> Keywords:
    template = {"pattern": rf"\{{\+?{argument}\}}"}
    return _when("scope", scope, {"required": ["uriTemplate"], "properties": {"uriTemplate": template}})


def _of_settings(contract: Contract) -> Keywords:
    types = contribution_rules.SETTING_TYPES
    return {"allOf": [_when("type", name, {"properties": {"default": {"type": name}}}) for name in types]}
