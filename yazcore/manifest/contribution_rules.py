"""The rules for what a plugin adds: names, permissions, scopes, tools, prompts, formats, settings (design 4, 6)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import attrs

from yazcore.contract import Contract
from yazcore.declarations import SettingDeclaration
from yazcore.manifest.model import Manifest
from yazcore.manifest.names import (
    LONGEST_EXPOSED,
    LONGEST_KEY,
    LONGEST_NAME,
    exposed,
    folded,
    is_action_word,
    is_id,
    is_message_key,
    is_name,
)
from yazcore.manifest.note_rules import duplicate, properties_of
from yazcore.manifest.places import Fault, Path, path_of
from yazcore.manifest.words import did_you_mean, is_harmless, quoted

LONGEST_DEADLINE = 600
"""The longest deadline of a tool, in seconds (design 7)."""

LARGEST_RESULT = 2 * 2**20
"""The largest `maxResult`, in bytes: no message between the runtimes is larger (design 5)."""

EXTENSION = re.compile(r"(?:\.[a-z0-9][a-z0-9_+-]*){1,3}")
"""The form of a format's extension."""

LONGEST_EXTENSION = 32
"""The longest extension, in characters."""

LONGEST_DEFAULT = 2000
"""The longest default of a setting, in characters."""


def _singular(key: str) -> str:
    return key.removesuffix("s")


def _entries(manifest: Manifest) -> Iterator[tuple[str, Path, Any]]:
    """(contribution key, path, declaration) of everything under `provides`, settings included."""
    for key, index, entry in manifest.provides.entries:
        yield key, ("provides", key, index), entry


@cache  # for there are thousands of entries
def name_field(cls: type) -> str | None:
    """The field that names a declaration of a class; None where it has another identity, such as an address."""
    fields = {field.name for field in attrs.fields(cls)}
    return next((field for field in ("id", "name", "key") if field in fields), None)


def names(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Names have one form, and no two of a kind differ only in `-`, `_` and case."""
    seen: dict[tuple[str, str], Path] = {}
    for key, path, entry in _entries(manifest):
        cls: type = type(entry)
        wire = name_field(cls)
        name = None if wire is None else getattr(entry, wire)
        if wire is None or not isinstance(name, str):  # a resource has an address; a draft may have no name
            continue
        place = (*path, wire)
        if not is_name(name):
            yield Fault(
                "name-invalid",
                f"{quoted(name)} is not a name",
                f"begin with a letter, use a-z, 0-9 and single - or _, at most {LONGEST_NAME} characters",
                place,
            )
        elif (first := seen.setdefault((key, folded(name)), path)) != path:
            yield duplicate(key, name, first, place)


def exposed_names(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """The name that agents see is short enough for every client."""
    for key in ("tools", "prompts"):
        for index, entry in enumerate(manifest.provides.of(key)):
            name = exposed(manifest.id, entry.name, own=manifest.id == contract.host)
            if len(name) > LONGEST_EXPOSED and is_name(entry.name) and is_id(manifest.id):
                yield Fault(
                    "name-too-long",
                    f"agents would see {quoted(name)}, which has {len(name)} characters",
                    f"shorten it: the longest is {LONGEST_EXPOSED}",
                    ("provides", key, index, "name"),
                )


def permissions(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Actions are the plugin's own, `<id>:<word>`, and each is declared once (S-37)."""
    seen: dict[str, int] = {}
    own = manifest.id if is_id(manifest.id) else "ID"
    for index, permission in enumerate(manifest.permissions):
        path = ("permissions", index, "action")
        plugin, _, word = permission.action.partition(":")
        if not is_action_word(word) or (plugin != manifest.id and is_id(manifest.id)):
            yield Fault(
                "permission-invalid",
                f"{quoted(permission.action)} is not a permission of this plugin",
                f"write {own}: and a word of a-z, 0-9 and hyphens, as in {own}:read",
                path,
            )
        elif (first := seen.setdefault(permission.action, index)) != index:
            yield Fault(
                "permission-duplicate", f"entry {first + 1} declares {quoted(permission.action)} already",
                "remove one of them", path,
            )  # fmt: skip


def permission_declared(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """What a caller needs is a permission that this very plugin declares (ADR 0114, SB-5)."""
    actions = manifest.actions
    if "" in actions:  # a draft: the permission that could not be read may be the one that is meant
        return
    for key, path, entry in _entries(manifest):
        permission = getattr(entry, "permission", None)
        if isinstance(permission, str) and permission not in actions:
            known = sorted(actions)
            fix = did_you_mean(permission, known, "declared are") if known else 'declare it under "permissions"'
            yield Fault(
                f"{_singular(key)}-permission-undeclared",
                f"the permission {quoted(permission)} is not declared by this plugin",
                fix,
                (*path, "permission"),
            )


def scope_known(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """The host knows the scope."""
    for _, path, entry in _entries(manifest):
        scope = getattr(entry, "scope", None)
        if isinstance(scope, str) and contract.scope_kind(scope) is None:
            known = [kind.name for kind in contract.scope_kinds]
            yield Fault(
                "scope-unknown", f"{contract.host} knows no scope {quoted(scope)}", did_you_mean(scope, known),
                (*path, "scope"),
            )  # fmt: skip


def _scope_argument(contract: Contract, scope: str) -> str | None:
    kind = contract.scope_kind(scope)
    return kind.argument if kind is not None else None


def tool_scope_argument(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """A tool in a scope that has ids takes the id: a required string argument of the scope's own name (SB-12)."""
    for index, tool in enumerate(manifest.provides.tools):
        argument = _scope_argument(contract, tool.scope)
        if argument is None:
            continue
        declared = properties_of(tool).get(argument)
        required = tool.input_schema.get("required")
        if not (
            isinstance(declared, dict)
            and declared.get("type") == "string"
            and isinstance(required, list)
            and argument in required
        ):
            yield Fault(
                "tool-scope-argument",
                f"a tool of scope {quoted(tool.scope)} takes the required string argument {quoted(argument)}",
                f'add {quoted(argument)}: {{"type": "string"}} to "properties" and {quoted(argument)} to "required"',
                ("provides", "tools", index, "inputSchema"),
            )


def prompt_scope_argument(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """A prompt in a scope that has ids takes the id too: prompts pass the same gate (design 7)."""
    for index, prompt in enumerate(manifest.provides.prompts):
        argument = _scope_argument(contract, prompt.scope)
        if argument is not None and not any(one.name == argument and one.required for one in prompt.arguments):
            yield Fault(
                "prompt-scope-argument",
                f"a prompt of scope {quoted(prompt.scope)} takes the required argument {quoted(argument)}",
                f'add {{"name": {quoted(argument)}, "note": "…", "required": true}} to "arguments"',
                ("provides", "prompts", index, "arguments"),
            )


def tool_schemas(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Arguments and structured results are objects; no arguments means a closed object (G49, G50)."""
    for index, tool in enumerate(manifest.provides.tools):
        path = ("provides", "tools", index)
        if tool.input_schema.get("type") != "object":
            yield Fault(
                "tool-input-schema", "the arguments of a tool are an object", 'set "type": "object" at the top',
                (*path, "inputSchema"),
            )  # fmt: skip
        if not properties_of(tool) and tool.input_schema.get("additionalProperties") is not False:
            yield Fault(
                "tool-input-open", "a tool without properties would take anything", 'set "additionalProperties": false',
                (*path, "inputSchema"),
            )  # fmt: skip
        if tool.output_schema is not None and tool.output_schema.get("type") != "object":
            yield Fault(
                "tool-output-schema", "a structured result is an object", 'set "type": "object" at the top',
                (*path, "outputSchema"),
            )  # fmt: skip


def tool_bounds(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Deadline and size of the result lie in what a host can keep."""
    for index, tool in enumerate(manifest.provides.tools):
        path = ("provides", "tools", index)
        if not 1 <= tool.deadline_seconds <= LONGEST_DEADLINE:
            yield Fault(
                "tool-deadline", f"a deadline of {tool.deadline_seconds} seconds is not possible",
                f"give 1 to {LONGEST_DEADLINE} seconds", (*path, "deadlineSeconds"),
            )  # fmt: skip
        if not 1 <= tool.max_result <= LARGEST_RESULT:
            yield Fault(
                "tool-max-result", f"a largest result of {tool.max_result} bytes is not possible",
                f"give 1 to {LARGEST_RESULT} bytes", (*path, "maxResult"),
            )  # fmt: skip


def tool_effect(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """A tool that only reads destroys nothing (SB-13)."""
    for index, tool in enumerate(manifest.provides.tools):
        if tool.posture == "read" and tool.effect is not None and tool.effect.destructive:
            yield Fault(
                "tool-effect", "a tool of posture read cannot be destructive", 'set "posture": "write"',
                ("provides", "tools", index, "effect", "destructive"),
            )  # fmt: skip


def formats(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Each format has extensions; each begins with a dot, in lower case, and belongs to one format."""
    seen: set[str] = set()
    for index, form in enumerate(manifest.provides.formats):
        path = ("provides", "formats", index, "extensions")
        if not form.extensions:
            message = "a format without an extension is never used"
            yield Fault("format-extension", message, 'add one, as in ".typ"', path)
        for number, extension in enumerate(form.extensions):
            if len(extension) > LONGEST_EXTENSION or not EXTENSION.fullmatch(extension):
                yield Fault(
                    "format-extension", f"{quoted(extension)} is not a file extension",
                    'begin with a dot and use lower case, as in ".typ"', (*path, number),
                )  # fmt: skip
            elif extension in seen:
                yield Fault(
                    "format-extension-duplicate", f"{quoted(extension)} is listed already", "remove one of them",
                    (*path, number),
                )  # fmt: skip
            seen.add(extension)


SETTING_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)
}  # fmt: skip
"""The types of settings, and of which classes a value of each is."""


def setting_fits(setting: SettingDeclaration, value: Any) -> bool:
    """Whether a value is of the setting's type: true is no integer, 1 is a number."""
    return type(value) in SETTING_TYPES[setting.type]


def setting_defaults(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """A default is of the setting's own type, and a text that can be shown."""
    for index, setting in enumerate(manifest.provides.settings):
        if setting.default is not None and not setting_fits(setting, setting.default):
            yield Fault(
                "setting-default", f"the default of {quoted(setting.key)} is no {setting.type}",
                "give a value of that type, or change the type", ("provides", "settings", index, "default"),
            )  # fmt: skip
        elif isinstance(setting.default, str) and not _can_be_shown(setting.default):
            yield Fault(
                "setting-default", f"the default of {quoted(setting.key)} is too long or holds control characters",
                f"use at most {LONGEST_DEFAULT} visible characters", ("provides", "settings", index, "default"),
            )  # fmt: skip


def _can_be_shown(text: str) -> bool:
    return len(text) <= LONGEST_DEFAULT and is_harmless(text)


def message_keys(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Message keys are identifiers of Fluent (Y-6)."""
    for key, pointer in manifest.message_keys():
        if not is_message_key(key):
            yield Fault(
                "message-key-invalid", f"{quoted(key)} is not a message key",
                f"begin with a letter, use letters, digits, - and _, at most {LONGEST_KEY} characters",
                path_of(pointer),
            )  # fmt: skip


RULES = (
    names, exposed_names, permissions, permission_declared, scope_known, tool_scope_argument, prompt_scope_argument,
    tool_schemas, tool_bounds, tool_effect, formats, setting_defaults, message_keys,
)  # fmt: skip
"""The rules of this page, in the order they stand here."""
