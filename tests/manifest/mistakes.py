# ruff: noqa: E501 - a table, one mistake a line
"""A manifest for every rule of reading: one good text, and for each rule a change that breaks it and nothing else.

`▶` in a change marks where the fault stands: its line and column are counted in the text, not taken from what is tested.
Rules: design 4; YB- and SB-, SA- of the two systems behind the seeds.
"""

from __future__ import annotations

import attrs

MARK = "▶"

TEXT = """\
{
  "contract": 1,
  "id": "notes", "name": "Notes", "version": "0.1.0", "minAppVersion": "0.1.0",
  "author": "Anna", "description": "Searches notes.", "icon": "N",
  "repository": "https://example.org/notes", "license": "MIT",
  "module": "yaz_plugin_notes.plugin:NotesPlugin", "locales": "locales",
  "capabilities": [
    {"kind": "fs-project", "access": "read", "paths": ["notes"], "reasonKey": "why-project"},
    {"kind": "fs-read", "place": "data", "suggest": ["~/Notes"]},
    {"kind": "fs-write", "path": "~/Notes/out"},
    {"kind": "net", "hosts": ["a.example.org"], "ports": [443], "readMethods": ["GET"], "optional": true},
    {"kind": "process", "commands": ["latexmk"]},
    {"kind": "mcp-client", "servers": ["checker"], "tools": ["check"]},
    {"kind": "credential", "names": ["api-key"]}
  ],
  "permissions": [
    {"action": "notes:read", "descriptionKey": "permission-read"},
    {"action": "notes:write", "descriptionKey": "permission-write"}
  ],
  "provides": {
    "commands": [{"id": "tidy", "nameKey": "command-tidy"}, {"id": "sort", "nameKey": "command-sort"}],
    "formats": [
      {"id": "org", "nameKey": "format-org", "extensions": [".org"]},
      {"id": "wiki", "nameKey": "format-wiki", "extensions": [".wiki"]}
    ],
    "tools": [
      {
        "name": "search", "descriptionKey": "tool-search", "posture": "read", "scope": "project",
        "permission": "notes:read", "effect": {"external": true}, "deadlineSeconds": 30, "maxResult": 40000,
        "params": [{"name": "query", "values": ["a"], "shape": "words", "note": "what to look for"}],
        "inputSchema": {
          "type": "object",
          "properties": {"projectId": {"type": "string"}, "query": {"type": "string"}},
          "required": ["projectId"]
        },
        "outputSchema": {"type": "object"}
      },
      {
        "name": "forget", "descriptionKey": "tool-forget", "posture": "write", "scope": "global",
        "permission": "notes:write", "approval": "ask",
        "inputSchema": {"type": "object", "additionalProperties": false}
      }
    ],
    "resources": [
      {
        "uriTemplate": "yaz://notes/{projectId}/{note}", "nameKey": "resource-note", "descriptionKey": "resource-note-long",
        "scope": "project", "permission": "notes:read", "mimeType": "text/plain", "cache": {"ttlMs": 1000},
        "variables": [{"name": "projectId", "note": "a project"}, {"name": "note", "values": ["a"], "note": "its name"}]
      },
      {
        "uri": "yaz://notes/all", "nameKey": "resource-all", "descriptionKey": "resource-all-long",
        "scope": "global", "permission": "notes:read"
      }
    ],
    "prompts": [
      {
        "name": "review", "descriptionKey": "prompt-review", "scope": "project", "permission": "notes:read",
        "arguments": [{"name": "projectId", "note": "a project", "required": true}, {"name": "topic", "note": "of what"}]
      }
    ],
    "settings": [{"key": "folder", "type": "string", "descriptionKey": "setting-folder", "default": "notes"}]
  },
  "updates": {"source": "pypi"}
}
"""
"""A manifest that uses everything, and breaks no rule."""


@attrs.frozen
class Mistake:
    """One change of `TEXT`: `old`, which stands there once, becomes `new`, in which a mark is where the fault stands."""

    code: str
    pointer: str
    old: str
    new: str
    rule: str = "design 4"

    @property
    def name(self) -> str:
        return f"{self.code} {self.pointer}"

    def marked(self) -> str:
        assert TEXT.count(self.old) == 1, self
        assert self.new.count(MARK) == 1, self
        return TEXT.replace(self.old, self.new)

    def text(self) -> str:
        return self.marked().replace(MARK, "")

    def place(self) -> tuple[int, int]:
        """Line and column of the mark, from 1."""
        before = self.marked().partition(MARK)[0]
        return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def missing(key: str, old: str, new: str, pointer: str, rule: str = "design 4") -> Mistake:
    return Mistake("manifest-missing-key", f"{pointer}/{key}", old, new, rule)


NET = '{"kind": "net", "hosts": ["a.example.org"], "ports": [443], "readMethods": ["GET"], "optional": true}'
SEARCH = '"name": "search", "descriptionKey": "tool-search", "posture": "read", "scope": "project",'
FORGET = """\
      {
        "name": "forget", "descriptionKey": "tool-forget", "posture": "write", "scope": "global",
        "permission": "notes:write", "approval": "ask",
        "inputSchema": {"type": "object", "additionalProperties": false}
      }"""
ALL = '"uri": "yaz://notes/all", "nameKey": "resource-all"'
NOTE = '"uriTemplate": "yaz://notes/{projectId}/{note}"'
LONG = "a" * 49

MISTAKES = (
    # the text itself
    Mistake("json-syntax", "", '"contract": 1,', '"contract": ▶,', "YB-1"),
    Mistake("json-duplicate-key", "/author", '"author": "Anna",', '"author": "Anna", ▶"author": "Ben",'),
    Mistake("json-duplicate-key", "/provides/tools/1/inputSchema/type", '{"type": "object", "additionalProperties": false}', '{"type": "object", ▶"type": "object", "additionalProperties": false}'),
    Mistake("json-number", "/provides/resources/0/cache/ttlMs", '{"ttlMs": 1000}', '{"ttlMs": ▶NaN}'),
    Mistake("json-number", "/provides/tools/0/maxResult", '"maxResult": 40000', f'"maxResult": {MARK}1{"0" * 30}'),
    Mistake("json-lone-surrogate", "/name", '"name": "Notes"', '"name": ▶"Notes\\ud800"'),
    Mistake("json-lone-surrogate", "/provides/tools/0/inputSchema/properties/\ufffd", '"query": {"type": "string"}}', '"query": {"type": "string"}, ▶"\\udc00": {}}'),
    Mistake("json-too-deep", "/provides/tools/1/inputSchema/a" + "/0" * 27, '"inputSchema": {"type": "object", "additionalProperties": false}', f'"inputSchema": {{"type": "object", "additionalProperties": false, "a": {"[" * 27}{MARK}[{"]" * 28}}}'),
    # its shape
    missing("contract", '{\n  "contract": 1,\n', "▶{\n", "", "YB-1"),
    missing("id", '{\n  "contract": 1,\n  "id": "notes", ', '▶{\n  "contract": 1,\n  ', "", "YB-1"),
    missing("hosts", NET, '▶{"kind": "net"}', "/capabilities/3", "YB-2"),
    missing("servers", '{"kind": "mcp-client", "servers": ["checker"], "tools": ["check"]}', '▶{"kind": "mcp-client"}', "/capabilities/5", "YB-2"),
    missing("kind", '{"kind": "process", "commands": ["latexmk"]}', '▶{"commands": ["latexmk"]}', "/capabilities/4"),
    missing("name", FORGET, FORGET.replace("{\n", "▶{\n", 1).replace('"name": "forget", ', ""), "/provides/tools/1", "SA-1"),
    missing("descriptionKey", FORGET, FORGET.replace("{\n", "▶{\n", 1).replace('"descriptionKey": "tool-forget", ', ""), "/provides/tools/1", "SB-2"),
    missing("posture", FORGET, FORGET.replace("{\n", "▶{\n", 1).replace('"posture": "write", ', ""), "/provides/tools/1", "SB-2"),
    missing("scope", FORGET, FORGET.replace("{\n", "▶{\n", 1).replace(' "scope": "global",', ""), "/provides/tools/1", "SB-2"),
    missing("permission", FORGET, FORGET.replace("{\n", "▶{\n", 1).replace('"permission": "notes:write", ', ""), "/provides/tools/1", "SB-2"),
    missing("inputSchema", FORGET, FORGET.replace("{\n", "▶{\n", 1).replace(',\n        "inputSchema": {"type": "object", "additionalProperties": false}', ""), "/provides/tools/1"),
    Mistake("manifest-unknown-key", "/minAppVerson", '"author": "Anna",', '"author": "Anna", ▶"minAppVerson": "1",', "SB-1"),
    Mistake("manifest-unknown-key", "/provides/tools/1/readOnly", '"approval": "ask",', '"approval": "ask", ▶"readOnly": true,', "SA-6"),
    Mistake("manifest-unknown-key", "/provides/tools/0/params/0/type", '{"name": "query",', '{"name": "query", ▶"type": "string",', "SA-6"),
    Mistake("manifest-unknown-key", "/capabilities/4/binaries", '{"kind": "process",', '{"kind": "process", ▶"binaries": [],', "SB-1"),
    Mistake("manifest-unknown-key", "/provides/panels", '"settings": [', '▶"panels": [], "settings": [', "SB-1"),
    Mistake("manifest-unknown-key", "/updates/channel", '{"source": "pypi"}', '{"source": "pypi", ▶"channel": "release"}', "SB-1"),
    Mistake("manifest-wrong-type", "/contract", '"contract": 1,', '"contract": ▶"1",', "SA-7"),
    Mistake("manifest-wrong-type", "/contract", '"contract": 1,', '"contract": ▶1.5,', "SA-7"),
    Mistake("manifest-wrong-type", "/contract", '"contract": 1,', '"contract": ▶true,', "SA-7"),
    Mistake("manifest-wrong-type", "/provides/tools/1/posture", '"posture": "write"', '"posture": ▶null', "SA-2"),
    Mistake("manifest-wrong-type", "/provides/tools/1/scope", '"posture": "write", "scope": "global"', '"posture": "write", "scope": ▶null', "SA-3"),
    Mistake("manifest-wrong-type", "/capabilities/3/hosts", '"hosts": ["a.example.org"]', '"hosts": ▶"a.example.org"'),
    Mistake("manifest-wrong-type", "/provides/prompts/0/arguments/0/required", '"required": true}', '"required": ▶1}'),
    Mistake("manifest-not-one-of", "/provides/tools/1/posture", '"posture": "write"', '"posture": ▶"WRITE"', "SB-3"),
    Mistake("manifest-not-one-of", "/provides/tools/1/posture", '"posture": "write"', '"posture": ▶"mutate"', "SB-3"),
    Mistake("manifest-not-one-of", "/provides/tools/1/posture", '"posture": "write"', '"posture": ▶""', "SA-2"),
    Mistake("manifest-not-one-of", "/provides/tools/1/approval", '"approval": "ask"', '"approval": ▶"always"'),
    Mistake("manifest-not-one-of", "/updates/source", '{"source": "pypi"}', '{"source": ▶"github"}'),
    Mistake("manifest-too-many", "/provides/tools/0/params/0/values", '"values": ["a"], "shape"', f'"values": {MARK}[{", ".join(["1"] * 501)}], "shape"'),
    Mistake("manifest-too-many", "/provides/commands", '"commands": [{"id": "tidy", "nameKey": "command-tidy"}, ', f'"commands": {MARK}[{"{}, " * 500}'),
    # who it is
    Mistake("contract-mismatch", "/contract", '"contract": 1,', '"contract": ▶0,', "SB-9"),
    Mistake("contract-mismatch", "/contract", '"contract": 1,', '"contract": ▶2,', "SB-9"),
    Mistake("id-invalid", "/id", '"id": "notes",', '"id": ▶"notes\\n",', "SA-8"),
    Mistake("id-invalid", "/id", '"id": "notes",', '"id": ▶"Notes",', "SB-8"),
    Mistake("id-invalid", "/id", '"id": "notes",', '"id": ▶"acme--notes",', "SA-8"),
    Mistake("id-invalid", "/id", '"id": "notes",', '"id": ▶"acme-",', "SA-8"),
    Mistake("id-invalid", "/id", '"id": "notes",', '"id": ▶"notes٣",', "SA-8"),
    Mistake("id-invalid", "/id", '"id": "notes",', f'"id": {MARK}"{"a" * 25}",', "SA-8"),
    Mistake("version-invalid", "/version", '"version": "0.1.0"', '"version": ▶"one"', "YB-1"),
    Mistake("version-invalid", "/minAppVersion", '"minAppVersion": "0.1.0"', f'"minAppVersion": {MARK}"{"9" * 5000}"', "YB-1"),
    Mistake("host-too-old", "/minAppVersion", '"minAppVersion": "0.1.0"', '"minAppVersion": ▶"9.0"', "S-18"),
    Mistake("module-invalid", "/module", '"module": "yaz_plugin_notes.plugin:NotesPlugin"', '"module": ▶"yaz_plugin_notes.plugin"'),
    Mistake("text-empty", "/author", '"author": "Anna"', '"author": ▶" "'),
    Mistake("text-too-long", "/license", '"license": "MIT"', f'"license": {MARK}"{"x" * 101}"'),
    Mistake("text-unprintable", "/name", '"name": "Notes"', '"name": ▶"Notes\\u202e"'),
    Mistake("text-unprintable", "/description", '"description": "Searches notes."', '"description": ▶"\\u001b[2J"'),
    Mistake("icon-invalid", "/icon", '"icon": "N"', '"icon": ▶"NN"'),
    Mistake("icon-invalid", "/icon", '"icon": "N"', '"icon": ▶"\\ufe0f\\ufe0f"'),
    Mistake("repository-invalid", "/repository", '"https://example.org/notes"', '▶"http://example.org/notes"', "YB-1"),
    Mistake("locales-invalid", "/locales", '"locales": "locales"', '"locales": ▶"../locales"'),
    # what it asks for
    Mistake("capability-unknown-kind", "/capabilities/4/kind", '{"kind": "process", "commands": ["latexmk"]}', '{"kind": ▶"proces"}', "YB-2"),
    Mistake("capability-unknown-kind", "/capabilities/4/kind", '{"kind": "process", "commands": ["latexmk"]}', '{"kind": ▶"*"}', "YB-2"),
    Mistake("capability-wildcard", "/capabilities/3/hosts/0", '"hosts": ["a.example.org"]', '"hosts": [▶"*"]', "YB-3"),
    Mistake("capability-wildcard", "/capabilities/3/hosts/0", '"hosts": ["a.example.org"]', '"hosts": [▶"*.example.org"]', "YB-3"),
    Mistake("capability-empty", "/capabilities/3/hosts/0", '"hosts": ["a.example.org"]', '"hosts": [▶""]', "YB-3"),
    Mistake("capability-empty", "/capabilities/3/hosts", '"hosts": ["a.example.org"]', '"hosts": ▶[]', "YB-3"),
    Mistake("capability-wildcard", "/capabilities/5/servers/0", '"servers": ["checker"]', '"servers": [▶"*"]', "YB-4"),
    Mistake("capability-empty", "/capabilities/5/servers", '"servers": ["checker"]', '"servers": ▶[]', "YB-4"),
    Mistake("capability-empty", "/capabilities/5/servers/0", '"servers": ["checker"]', '"servers": [▶""]', "YB-4"),
    Mistake("capability-empty", "/capabilities/3/ports", '"ports": [443]', '"ports": ▶[]'),
    Mistake("capability-empty", "/capabilities/1/place", '"place": "data"', '"place": ▶""'),
    Mistake("capability-empty", "/capabilities/2/path", '"path": "~/Notes/out"', '"path": ▶" "'),
    Mistake("capability-host", "/capabilities/3/hosts/0", '"hosts": ["a.example.org"]', '"hosts": [▶"https://a.example.org"]', "YA-4"),
    Mistake("capability-host", "/capabilities/3/hosts/0", '"hosts": ["a.example.org"]', '"hosts": [▶"a..example"]', "YA-4"),
    Mistake("capability-host-private", "/capabilities/3/hosts/0", '"hosts": ["a.example.org"]', '"hosts": [▶"127.0.0.1"]'),
    Mistake("capability-port", "/capabilities/3/ports/0", '"ports": [443]', '"ports": [▶65536]'),
    Mistake("capability-method", "/capabilities/3/readMethods/0", '"readMethods": ["GET"]', '"readMethods": [▶"get"]'),
    Mistake("capability-method", "/capabilities/3/readMethods/0", '"readMethods": ["GET"]', '"readMethods": [▶"DELETE"]'),
    Mistake("capability-command", "/capabilities/4/commands/0", '"commands": ["latexmk"]', '"commands": [▶"/bin/latexmk"]', "Y-18"),
    Mistake("capability-server", "/capabilities/5/servers/0", '"servers": ["checker"]', '"servers": [▶"the checker"]'),
    Mistake("capability-tool", "/capabilities/5/tools/0", '"tools": ["check"]}', '"tools": [▶"check it"]}'),
    Mistake("capability-credential", "/capabilities/6/names/0", '"names": ["api-key"]', '"names": [▶"API"]'),
    Mistake("capability-path", "/capabilities/0/paths/0", '"paths": ["notes"]', '"paths": [▶"../notes"]', "Y-15"),
    Mistake("capability-path", "/capabilities/0/paths/0", '"paths": ["notes"]', '"paths": [▶"."]'),
    Mistake("capability-path", "/capabilities/2/path", '"path": "~/Notes/out"', '"path": ▶"Notes/out"', "Y-15"),
    Mistake("capability-path-protected", "/capabilities/0/paths/0", '"paths": ["notes"]', '"paths": [▶".git"]'),
    Mistake("capability-path-too-wide", "/capabilities/2/path", '"path": "~/Notes/out"', '"path": ▶"~"'),
    Mistake("capability-path-too-wide", "/capabilities/1/suggest/0", '"suggest": ["~/Notes"]', '"suggest": [▶"/etc"]'),
    Mistake("capability-place", "/capabilities/1/place", '"place": "data"', '"place": ▶"project"'),
    Mistake("capability-target", "/capabilities/1", '{"kind": "fs-read", "place": "data", "suggest": ["~/Notes"]}', '▶{"kind": "fs-read"}'),
    Mistake("capability-target", "/capabilities/2", '{"kind": "fs-write", "path": "~/Notes/out"}', '▶{"kind": "fs-write", "path": "~/Notes/out", "place": "out"}'),
    Mistake("capability-target", "/capabilities/2/suggest", '"path": "~/Notes/out"', '"path": "~/Notes/out", "suggest": ▶["~/Out"]'),
    Mistake("capability-duplicate", "/capabilities/5", '{"kind": "process", "commands": ["latexmk"]},', '{"kind": "process", "commands": ["latexmk"]},\n    ▶{"kind": "process", "commands": ["latexmk", "latexmk"]},'),
    # what callers need
    Mistake("permission-invalid", "/permissions/0/action", '"permissions": [\n', '"permissions": [\n    {"action": ▶"core:read", "descriptionKey": "k"},\n', "SB-7"),
    Mistake("permission-invalid", "/permissions/0/action", '"permissions": [\n', '"permissions": [\n    {"action": ▶"notes:*", "descriptionKey": "k"},\n', "SB-7"),
    Mistake("permission-duplicate", "/permissions/2/action", '"descriptionKey": "permission-write"}', '"descriptionKey": "permission-write"},\n    {"action": ▶"notes:read", "descriptionKey": "k"}', "S-37"),
    Mistake("tool-permission-undeclared", "/provides/tools/1/permission", '"permission": "notes:write",', '"permission": ▶"notes:wriet",', "SA-4"),
    Mistake("tool-permission-undeclared", "/provides/tools/1/permission", '"permission": "notes:write",', '"permission": ▶"other:read",', "SB-5"),
    Mistake("tool-permission-undeclared", "/provides/tools/1/permission", '"permission": "notes:write",', '"permission": ▶"yaz:read",', "SB-5"),
    Mistake("resource-permission-undeclared", "/provides/resources/1/permission", '"scope": "global", "permission": "notes:read"\n', '"scope": "global", "permission": ▶"notes:look"\n', "SB-5"),
    Mistake("prompt-permission-undeclared", "/provides/prompts/0/permission", '"descriptionKey": "prompt-review", "scope": "project", "permission": "notes:read"', '"descriptionKey": "prompt-review", "scope": "project", "permission": ▶"notes:look"', "SB-5"),
    Mistake("scope-unknown", "/provides/tools/1/scope", '"posture": "write", "scope": "global"', '"posture": "write", "scope": ▶"Global"', "SB-4"),
    Mistake("scope-unknown", "/provides/tools/1/scope", '"posture": "write", "scope": "global"', '"posture": "write", "scope": ▶"resource"', "SA-3"),
    # what it adds
    Mistake("name-invalid", "/provides/tools/1/name", '"name": "forget"', '"name": ▶"forget it"', "YG-12"),
    Mistake("name-invalid", "/provides/commands/0/id", '{"id": "tidy"', '{"id": ▶"Tidy"'),
    Mistake("name-invalid", "/provides/settings/0/key", '{"key": "folder"', f'{{"key": {MARK}"{LONG}"'),
    Mistake("name-duplicate", "/provides/tools/1/name", '"name": "forget"', '"name": ▶"search"', "SG-3"),
    Mistake("name-duplicate", "/provides/tools/0/params/1/name", '"note": "what to look for"}', '"note": "what to look for"}, {"name": ▶"query"}'),
    Mistake("name-too-long", "/provides/tools/1/name", '"name": "forget"', f'"name": {MARK}"{"a" * 42}"'),
    Mistake("message-key-invalid", "/provides/tools/1/descriptionKey", '"tool-forget"', '▶"tool forget"', "Y-6"),
    Mistake("message-key-invalid", "/capabilities/0/reasonKey", '"why-project"', '▶"why?"', "Y-6"),
    Mistake("tool-scope-argument", "/provides/tools/0/inputSchema", '"inputSchema": {\n          "type": "object",\n          "properties": {"projectId": {"type": "string"}, ', '"inputSchema": ▶{\n          "type": "object",\n          "properties": {', "SB-12"),
    Mistake("tool-scope-argument", "/provides/tools/0/inputSchema", '"inputSchema": {\n          "type": "object",\n          "properties": {"projectId": {"type": "string"}, ', '"inputSchema": ▶{\n          "type": "object",\n          "properties": {"projectId": {"type": ["string", "null"]}, ', "SA-10"),
    Mistake("tool-scope-argument", "/provides/tools/0/inputSchema", '"inputSchema": {\n          "type": "object",\n          "properties": {"projectId": {"type": "string"}, ', '"inputSchema": ▶{\n          "type": "object",\n          "properties": {"projectId": {"type": "integer"}, ', "SA-10"),
    Mistake("tool-scope-argument", "/provides/tools/0/inputSchema", '"inputSchema": {\n          "type": "object",\n          "properties": {"projectId": {"type": "string"}, "query": {"type": "string"}},\n          "required": ["projectId"]', '"inputSchema": ▶{\n          "type": "object",\n          "properties": {"projectId": {"type": "string"}, "query": {"type": "string"}},\n          "required": []', "SA-10"),
    Mistake("tool-input-schema", "/provides/tools/1/inputSchema", '"inputSchema": {"type": "object", "additionalProperties": false}', '"inputSchema": ▶{"type": "array", "additionalProperties": false}'),
    Mistake("tool-input-open", "/provides/tools/1/inputSchema", '"inputSchema": {"type": "object", "additionalProperties": false}', '"inputSchema": ▶{"type": "object"}'),
    Mistake("tool-output-schema", "/provides/tools/0/outputSchema", '"outputSchema": {"type": "object"}', '"outputSchema": ▶{"type": "string"}'),
    Mistake("tool-param-unknown", "/provides/tools/0/params/0/name", '{"name": "query",', '{"name": ▶"querry",', "S-38"),
    Mistake("tool-param-values", "/provides/tools/0/params/0/values", '"values": ["a"], "shape"', '"values": ▶[], "shape"', "S-38"),
    Mistake("note-invalid", "/provides/tools/0/params/0/note", '"note": "what to look for"', '"note": ▶""'),
    Mistake("value-invalid", "/provides/tools/0/params/0/values/0", '"values": ["a"], "shape"', '"values": [▶"\\u202e"], "shape"'),
    Mistake("value-invalid", "/provides/tools/0/params/0/shape", '"shape": "words"', f'"shape": {MARK}"{"x" * 201}"'),
    Mistake("tool-deadline", "/provides/tools/0/deadlineSeconds", '"deadlineSeconds": 30', '"deadlineSeconds": ▶601'),
    Mistake("tool-max-result", "/provides/tools/0/maxResult", '"maxResult": 40000', '"maxResult": ▶0'),
    Mistake("tool-effect", "/provides/tools/0/effect/destructive", '{"external": true}', '{"destructive": ▶true}', "SB-13"),
    Mistake("format-extension", "/provides/formats/0/extensions/0", '[".org"]', '[▶"org"]'),
    Mistake("format-extension", "/provides/formats/0/extensions", '[".org"]', '▶[]'),
    Mistake("format-extension-duplicate", "/provides/formats/1/extensions/0", '[".wiki"]', '[▶".org"]'),
    Mistake("setting-default", "/provides/settings/0/default", '"default": "notes"', '"default": ▶7'),
    Mistake("setting-default", "/provides/settings/0/default", '"default": "notes"', '"default": ▶"\\u001b[2J"'),
    Mistake("prompt-argument-invalid", "/provides/prompts/0/arguments/1/name", '{"name": "topic"', '{"name": ▶"the topic"'),
    Mistake("prompt-scope-argument", "/provides/prompts/0/arguments", '"arguments": [{"name": "projectId", "note": "a project", "required": true}, ', '"arguments": ▶[{"name": "projectId", "note": "a project"}, '),
    # what its resources are called
    Mistake("resource-address", "/provides/resources/1", '      {\n        "uri": "yaz://notes/all", ', '      ▶{\n        '),
    Mistake("resource-address", "/provides/resources/1", '      {\n        "uri": "yaz://notes/all", ', '      ▶{\n        "uri": "yaz://notes/all", "uriTemplate": "yaz://notes/{a}", '),
    Mistake("resource-duplicate", "/provides/resources/2/uri", '"scope": "global", "permission": "notes:read"\n      }', '"scope": "global", "permission": "notes:read"\n      },\n      {"uri": ▶"yaz://notes/all", "nameKey": "k", "descriptionKey": "k", "scope": "global", "permission": "notes:read"}'),
    Mistake("resource-uri", "/provides/resources/1/uri", '"uri": "yaz://notes/all"', '"uri": ▶"yaz://notes/all?a=b"'),
    Mistake("resource-uri", "/provides/resources/1/uri", '"uri": "yaz://notes/all"', '"uri": ▶"yaz://notes/../all"'),
    Mistake("resource-uri", "/provides/resources/1/uri", '"uri": "yaz://notes/all"', f'"uri": {MARK}"yaz://notes/{"a" * 501}"'),
    Mistake("resource-template", "/provides/resources/0/uriTemplate", NOTE, '"uriTemplate": ▶"yaz://notes/{projectId}{note}"'),
    Mistake("resource-namespace", "/provides/resources/1/uri", '"uri": "yaz://notes/all"', '"uri": ▶"yaz://other/all"'),
    Mistake("resource-variable-undocumented", "/provides/resources/0/variables", '"variables": [{"name": "projectId", "note": "a project"}, {"name": "note", "values": ["a"], "note": "its name"}]', '"variables": ▶[{"name": "projectId", "note": "a project"}]'),
    Mistake("resource-variable-unknown", "/provides/resources/0/variables/2/name", '"note": "its name"}]', '"note": "its name"}, {"name": ▶"tag", "note": "a tag"}]'),
    Mistake("resource-variable-values", "/provides/resources/0/variables/1/values", '"values": ["a"], "note": "its name"', '"values": ▶[], "note": "its name"'),
    Mistake("resource-scope-variable", "/provides/resources/1/uri", '"uri": "yaz://notes/all", "nameKey": "resource-all", "descriptionKey": "resource-all-long",\n        "scope": "global"', '"uri": ▶"yaz://notes/all", "nameKey": "resource-all", "descriptionKey": "resource-all-long",\n        "scope": "project"'),
    Mistake("resource-mime-type", "/provides/resources/0/mimeType", '"mimeType": "text/plain"', '"mimeType": ▶"text"'),
    Mistake("resource-cache", "/provides/resources/0/cache/ttlMs", '{"ttlMs": 1000}', '{"ttlMs": ▶-1}'),
)  # fmt: skip
"""At least one for each code of reading that one change of one manifest can give."""
