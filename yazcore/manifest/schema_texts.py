"""What an editor shows of each key of a manifest: a sentence a field, by class. Under the empty name: of the whole."""

from __future__ import annotations

from collections.abc import Mapping

from yazcore.declarations import (
    Cache,
    CommandDeclaration,
    Effect,
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
from yazcore.kinds import Capability, Credential, FsProject, FsRead, FsWrite, McpClient, Net, Process
from yazcore.manifest.model import Manifest, Updates

_NAME_KEY = "The message key of its name, which people read."
_DESCRIPTION_KEY = "The message key of its description, which people and agents read."
_SCOPE = "On what the permission counts: the whole installation, or one thing that the call names by its id."
_PERMISSION = "What a caller needs: an action of this plugin's own permissions. It grants the plugin nothing."
_FOLDER = {
    "path": "A folder, absolute or below ~/. Either this or place.",
    "place": "A name for a folder that the user chooses when granting. Either this or path.",
    "suggest": "Folders that are offered for the place; the first that exists.",
}

TEXTS: Mapping[type, Mapping[str, str]] = {
    Manifest: {
        "": "What one plugin says about itself: read, compared and listed without running it.",
        "$schema": "Where this schema lies, for editors; the host does not look at it.",
        "contract": "The number of the host's contract, which must be equal.",
        "id": "The plugin's id: its distribution and its entry point are named after it.",
        "name": "The plugin's name, for people.",
        "version": "The plugin's version (PEP 440): its distribution's.",
        "min_app_version": "The oldest version of the host application that the plugin works with (PEP 440).",
        "author": "Who made it.",
        "description": "What it does, in English.",
        "module": "The plugin's class, as package.module:Class, in the package in which this manifest lies.",
        "icon": "One character to show beside its name.",
        "repository": "The https address of its source.",
        "license": "Its licence, for people.",
        "locales": "The folder of its message files, directly in its package.",
        "capabilities": "What it may do to the machine, once the user grants it. Contributing needs none.",
        "permissions": "What callers can be granted, to use what it provides.",
        "provides": "What it adds: exactly what its hooks register.",
        "updates": "Where updates come from.",
        "provides.commands": "Commands for people.",
        "provides.formats": "Document formats.",
        "provides.tools": "Tools for agents.",
        "provides.resources": "Things that agents read, by address.",
        "provides.prompts": "Runbooks that a person picks.",
        "provides.settings": "Values that the user may set for it.",
    },
    Updates: {"": "Where updates come from.", "source": "The index that has newer versions."},
    Capability: {
        "kind": "What it asks for.",
        "reason_key": "The message key of the plugin's own reason, which the user reads before granting.",
        "optional": "Whether the plugin works without it: then it is asked for at its first use.",
    },
    FsProject: {
        "": "Files of the project of the call.",
        "access": "Whether files are only read, or written too.",
        "paths": "The only files and folders of the project that it reaches; without, all but the protected ones.",
    },
    FsRead: {"": "Reading below one folder outside the project.", **_FOLDER},
    FsWrite: {"": "Writing, and so reading, below one folder outside the project.", **_FOLDER},
    Net: {
        "": "HTTPS to the hosts named.",
        "hosts": "The hosts, each in full, without scheme, port and wildcards.",
        "ports": "The ports.",
        "private": "Whether plain http and addresses inside the user's network are allowed too.",
        "read_methods": "The HTTP methods that change nothing, and so may be used by what only reads.",
    },
    Process: {"": "Running the commands named.", "commands": "The commands, each a bare name without a path."},
    McpClient: {
        "": "Calling MCP servers that the user has named.",
        "servers": "The servers, each exactly as the user calls it.",
        "tools": "The only tools of theirs that are called; without, all of them.",
    },
    Credential: {
        "": "Secrets that the host keeps and spends for the plugin, which never sees them.",
        "names": "What the secrets are called.",
    },
    PermissionDeclaration: {
        "": "An action that callers can be granted.",
        "action": "The plugin's id, a colon and a word.",
        "description_key": _DESCRIPTION_KEY,
    },
    CommandDeclaration: {"": "A command for people.", "id": "Its name on the command line.", "name_key": _NAME_KEY},
    FormatDeclaration: {
        "": "A document format.",
        "id": "What the format is called.",
        "name_key": _NAME_KEY,
        "extensions": "The file extensions it has, each with its dot, in lower case.",
    },
    ToolDeclaration: {
        "": "A tool that agents may call.",
        "name": "What it is called; agents see the plugin's id and two underscores before it.",
        "description_key": _DESCRIPTION_KEY,
        "posture": "Whether it only reads, or changes something. It is enforced.",
        "scope": _SCOPE,
        "permission": _PERMISSION,
        "input_schema": "The JSON Schema (2020-12) of its arguments, an object. Published, and asked of each call.",
        "output_schema": "The JSON Schema (2020-12) of its structured result, an object.",
        "params": "Notes on properties of the arguments, for help.",
        "effect": "What a call does: hints for clients.",
        "approval": "Whether the user is asked before each call; the operator may raise it.",
        "deadline_seconds": "How long a call may take, in seconds.",
        "max_result": "The most bytes of text that a result may have.",
    },
    Param: {
        "": "A note on one property of a tool's arguments.",
        "name": "The property.",
        "values": "The values it takes.",
        "shape": "What a value looks like, as in YYYY-MM-DD.",
        "note": "What it is for.",
    },
    Effect: {
        "": "What a call does.",
        "destructive": "Whether something may be lost.",
        "idempotent": "Whether a second call with the same arguments changes nothing more.",
        "external": "Whether it reaches beyond this machine.",
    },
    ResourceDeclaration: {
        "": "A thing with an address that agents may read.",
        "uri": "Its address, below yaz:// and the plugin's id. Either this or uriTemplate.",
        "uri_template": "The address of many things, with variables such as {key} (RFC 6570). Either this or uri.",
        "name_key": _NAME_KEY,
        "description_key": _DESCRIPTION_KEY,
        "scope": _SCOPE,
        "permission": _PERMISSION,
        "mime_type": "The media type of its content.",
        "variables": "What may stand for each variable of the template.",
        "cache": "How long a reader may keep it.",
    },
    Variable: {
        "": "A variable of a resource's template.",
        "name": "The variable.",
        "note": "What may stand there.",
        "values": "The values it takes, where they are few.",
    },
    Cache: {
        "": "How long a reader may keep a resource.",
        "ttl_ms": "For so many milliseconds.",
        "scope": "Whether what is kept may be shared between callers. A resource whose scope has ids is never shared.",
    },
    PromptDeclaration: {
        "": "A runbook that a person picks; it never acts.",
        "name": "What it is called; clients show the plugin's id and two underscores before it.",
        "description_key": _DESCRIPTION_KEY,
        "scope": _SCOPE,
        "permission": _PERMISSION,
        "arguments": "What the person fills in.",
    },
    PromptArgument: {
        "": "An argument of a prompt.",
        "name": "What it is called.",
        "note": "What it is for.",
        "required": "Whether it has to be filled in.",
    },
    SettingDeclaration: {
        "": "A value that the user may set for the plugin.",
        "key": "What it is called.",
        "type": "Of what type it is.",
        "description_key": _DESCRIPTION_KEY,
        "default": "The value where the user has set none, of the same type.",
    },
}
