from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from tests.manifest.samples import CONTRACT, broken, codes, good, manifest_of, only, reading, said
from yazcore.permissions import ScopeKind


def with_tool(**change: Any) -> Any:
    """The violations with the first tool, `search-library`, changed."""
    return broken(lambda document: document["provides"]["tools"][0].update(change))


def with_entry(key: str, /, **change: Any) -> Any:
    return broken(lambda document: document["provides"][key][0].update(change))


# -- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "field"),
    [("commands", "id"), ("formats", "id"), ("tools", "name"), ("prompts", "name"), ("settings", "key")],
)
@pytest.mark.parametrize("name", ["", "Search", "a__b", "search\n", "a٣", "a" * 49])
def test_what_is_no_name(key: str, field: str, name: str) -> None:
    violation = only(with_entry(key, **{field: name}))
    assert (violation.code, violation.pointer) == ("name-invalid", f"/provides/{key}/0/{field}")
    assert violation.fix == "begin with a letter, use a-z, 0-9 and single - or _, at most 48 characters"


@pytest.mark.parametrize(
    ("key", "field"),
    [("commands", "id"), ("formats", "id"), ("tools", "name"), ("prompts", "name"), ("settings", "key")],
)
def test_no_two_of_a_kind_have_one_name(key: str, field: str) -> None:
    def twice(document: dict[str, Any]) -> None:
        first = document["provides"][key][0]
        document["provides"][key] = [first | {field: "one-name"}, first | {field: "one_name", "extensions": [".x"]}]
        if key != "formats":
            document["provides"][key][1].pop("extensions")

    violation = only(broken(twice))
    assert (violation.code, violation.pointer, said(violation)) == (
        "name-duplicate",
        f"/provides/{key}/1/{field}",
        f'entry 1 of "{key}" has the name "one_name" already; case, - and _ do not count. rename or remove one of them',
    )


def test_a_command_may_have_a_tools_name() -> None:
    def same(document: dict[str, Any]) -> None:
        document["provides"]["commands"][0]["id"] = "search-library"

    assert broken(same) == []


def test_an_exposed_name_has_a_longest() -> None:
    longest = "a" * (48 - len("zotero__"))
    assert with_tool(name=longest) == []
    violation = only(with_tool(name=longest + "a"))
    assert (violation.code, violation.pointer) == ("name-too-long", "/provides/tools/0/name")
    assert violation.message == f'agents would see "zotero__{longest}a", which has 49 characters'
    assert codes(with_entry("prompts", name=longest + "a")) == [("name-too-long", "/provides/prompts/0/name")]


def test_the_hosts_own_names_carry_no_prefix_and_may_be_longer() -> None:
    document = good()
    document["provides"] = {"tools": [document["provides"]["tools"][0] | {"name": "a" * 48}]}
    manifest_of(document, attrs.evolve(CONTRACT, host="zotero"), own=True)


# -- permissions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "action", ["", "read", "zotero:", "zotero:*", "other:read", "zotero:Read", "zotero:read\n", "zotero:a:b"]
)
def test_what_is_no_permission_of_this_plugin(action: str) -> None:
    document = good()
    document["permissions"].append({"action": action, "descriptionKey": "k"})
    violation = only(reading(document).violations)
    assert (violation.code, violation.pointer) == ("permission-invalid", "/permissions/2/action")
    assert violation.fix == "write zotero: and a word of a-z, 0-9 and hyphens, as in zotero:read"


def test_where_the_id_is_wrong_only_the_word_is_judged() -> None:
    document = good()
    document["id"] = "\x1b[2J"
    document["permissions"] = [{"action": "zotero:read", "descriptionKey": "k"}, {"action": "*", "descriptionKey": "k"}]
    document["provides"] = {}
    found = reading(document).violations
    assert codes(found) == [("id-invalid", "/id"), ("permission-invalid", "/permissions/1/action")]
    assert found[1].fix == "write ID: and a word of a-z, 0-9 and hyphens, as in ID:read"


def test_a_permission_is_declared_once() -> None:
    violation = only(broken(lambda document: document["permissions"].append(document["permissions"][0])))
    assert (violation.code, violation.pointer, said(violation)) == (
        "permission-duplicate", "/permissions/2/action",
        'entry 1 declares "zotero:read" already. remove one of them',
    )  # fmt: skip


@pytest.mark.parametrize(("key", "noun"), [("tools", "tool"), ("resources", "resource"), ("prompts", "prompt")])
def test_what_a_caller_needs_is_declared_by_this_plugin(key: str, noun: str) -> None:
    violation = only(with_entry(key, permission="zotero:raed"))
    assert (violation.code, violation.pointer, said(violation)) == (
        f"{noun}-permission-undeclared",
        f"/provides/{key}/0/permission",
        'the permission "zotero:raed" is not declared by this plugin. did you mean "zotero:read"?',
    )


def test_a_permission_of_the_host_is_none_of_this_plugin() -> None:
    violation = only(with_tool(permission="yaz:compile"))
    assert violation.fix == 'declared are "zotero:read", "zotero:write"'


def test_without_any_declared_permission_the_advice_is_to_declare_it() -> None:
    found = broken(lambda document: document.pop("permissions"))
    assert {one.fix for one in found} == {'declare it under "permissions"'}
    assert len(found) == 5


# -- scopes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["tools", "resources", "prompts"])
def test_a_scope_that_the_host_does_not_know(key: str) -> None:
    violation = only(with_entry(key, scope="Global"))
    assert (violation.code, violation.pointer, said(violation)) == (
        "scope-unknown", f"/provides/{key}/0/scope", 'yaz knows no scope "Global". did you mean "global"?',
    )  # fmt: skip


def spoil_argument(change: Callable[[dict[str, Any]], object]) -> Any:
    return broken(lambda document: change(document["provides"]["tools"][1]["inputSchema"]))


@pytest.mark.parametrize(
    "change",
    [
        lambda schema: schema["properties"].pop("projectId"),
        lambda schema: schema["properties"].update(projectId=True),
        lambda schema: schema["properties"].update(projectId={"type": "integer"}),
        lambda schema: schema["properties"].update(projectId={"type": ["string", "null"]}),
        lambda schema: schema.update(required=["key"]),
        lambda schema: schema.pop("required"),
        lambda schema: schema.update(required="projectId"),
    ],
)
def test_a_tool_in_a_project_takes_the_projects_id(change: Callable[[dict[str, Any]], object]) -> None:
    violation = only(spoil_argument(change))
    assert (violation.code, violation.pointer, said(violation)) == (
        "tool-scope-argument",
        "/provides/tools/1/inputSchema",
        ('a tool of scope "project" takes the required string argument "projectId". '
        'add "projectId": {"type": "string"} to "properties" and "projectId" to "required"'),
    )  # fmt: skip


def test_each_scope_names_its_own_argument() -> None:
    cluster = ScopeKind(name="cluster", argument="clusterId", parse=lambda text: text)
    document = good()
    document["provides"]["tools"][1]["scope"] = "cluster"
    violation = only(reading(document, attrs.evolve(CONTRACT, scope_kinds=(*CONTRACT.scope_kinds, cluster))).violations)
    assert '"clusterId"' in violation.message


def test_a_prompt_in_a_project_takes_the_projects_id() -> None:
    violation = only(with_entry("prompts", scope="project"))
    assert (violation.code, violation.pointer) == ("prompt-scope-argument", "/provides/prompts/0/arguments")
    argument = {"name": "projectId", "note": "from list_projects"}
    assert len(with_entry("prompts", scope="project", arguments=[argument])) == 1
    assert with_entry("prompts", scope="project", arguments=[argument | {"required": True}]) == []


# -- tools -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", [{"type": "array"}, {"type": ["object"]}, {"properties": {"query": {}}}])
def test_arguments_are_an_object(schema: dict[str, Any]) -> None:
    found = with_tool(inputSchema={"properties": {"query": {}}, **schema})
    assert codes(found) == [("tool-input-schema", "/provides/tools/0/inputSchema")]
    assert said(found[0]) == 'the arguments of a tool are an object. set "type": "object" at the top'


@pytest.mark.parametrize("more", [{}, {"properties": {}}, {"additionalProperties": True}, {"additionalProperties": {}}])
def test_no_arguments_means_a_closed_object(more: dict[str, Any]) -> None:
    found = with_tool(inputSchema={"type": "object", **more}, params=[])
    assert codes(found) == [("tool-input-open", "/provides/tools/0/inputSchema")]


def test_a_tool_without_arguments() -> None:
    assert with_tool(inputSchema={"type": "object", "additionalProperties": False}, params=[]) == []


def test_a_structured_result_is_an_object() -> None:
    assert codes(with_tool(outputSchema={"type": "array"})) == [
        ("tool-output-schema", "/provides/tools/0/outputSchema")
    ]


def test_a_note_is_about_a_property_of_the_schema() -> None:
    violation = only(with_tool(params=[{"name": "querry"}]))
    assert (violation.code, violation.pointer, said(violation)) == (
        "tool-param-unknown",
        "/provides/tools/0/params/0/name",
        '"querry" is not a property of the input schema. did you mean "query"?',
    )


def test_a_parameter_has_one_note() -> None:
    found = with_tool(params=[{"name": "query"}, {"name": "query"}])
    assert codes(found) == [("name-duplicate", "/provides/tools/0/params/1/name")]


@pytest.mark.parametrize("note", ["", " ", "a\x1b[0m", "\u202e", "x" * 1001])
def test_a_note_says_something_that_can_be_seen(note: str) -> None:
    assert codes(with_tool(params=[{"name": "query", "note": note}])) == [
        ("note-invalid", "/provides/tools/0/params/0/note")
    ]


@pytest.mark.parametrize("text", ["a\x1b[0m", "\u202e", "two\nlines", "x" * 201])
def test_values_and_shapes_fit_on_a_line_that_can_be_seen(text: str) -> None:
    found = with_tool(params=[{"name": "query", "values": ["a", text], "shape": text}])
    assert codes(found) == [
        ("value-invalid", "/provides/tools/0/params/0/values/1"), ("value-invalid", "/provides/tools/0/params/0/shape")
    ]  # fmt: skip
    assert found[0].fix == "use at most 200 visible characters"

    def spoil(document: dict[str, Any]) -> None:
        document["provides"]["resources"][0]["variables"][0]["values"] = [text]

    assert codes(broken(spoil)) == [("value-invalid", "/provides/resources/0/variables/0/values/0")]


def test_a_value_may_be_empty_or_a_space() -> None:
    assert with_tool(params=[{"name": "query", "values": ["", " "]}]) == []


def test_a_parameter_that_may_have_no_value() -> None:
    violation = only(with_tool(params=[{"name": "query", "values": []}]))
    assert (violation.code, violation.pointer, said(violation)) == (
        "tool-param-values", "/provides/tools/0/params/0/values",
        'no value is allowed for "query". name the values, or leave the list out',
    )  # fmt: skip


@pytest.mark.parametrize("seconds", [1, 600])
def test_deadlines(seconds: int) -> None:
    assert with_tool(deadlineSeconds=seconds) == []


@pytest.mark.parametrize("seconds", [0, -1, 601])
def test_deadlines_that_are_not_possible(seconds: int) -> None:
    violation = only(with_tool(deadlineSeconds=seconds))
    assert (violation.code, violation.pointer) == ("tool-deadline", "/provides/tools/0/deadlineSeconds")
    assert said(violation) == f"a deadline of {seconds} seconds is not possible. give 1 to 600 seconds"


@pytest.mark.parametrize("size", [0, -1, 2**21 + 1])
def test_results_that_are_not_possible(size: int) -> None:
    assert codes(with_tool(maxResult=size)) == [("tool-max-result", "/provides/tools/0/maxResult")]
    assert with_tool(maxResult=2**21) == with_tool(maxResult=1) == []


def test_a_tool_that_reads_destroys_nothing() -> None:
    assert codes(with_tool(effect={"destructive": True})) == [("tool-effect", "/provides/tools/0/effect/destructive")]
    assert with_tool(effect={"external": True, "idempotent": True}) == []
    assert with_tool(posture="write", effect={"destructive": True}) == []


# -- prompts, formats, settings, messages ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "a b", "1a", "a\n", "a" * 65])
def test_what_is_no_argument_of_a_prompt(name: str) -> None:
    found = with_entry("prompts", arguments=[{"name": name, "note": "n"}])
    assert codes(found) == [("prompt-argument-invalid", "/provides/prompts/0/arguments/0/name")]


@pytest.mark.parametrize("extension", [".typ", ".tar.gz", ".c++"])
def test_extensions(extension: str) -> None:
    assert with_entry("formats", extensions=[extension]) == []


@pytest.mark.parametrize("extension", ["", ".", "typ", ".Typ", ".t/p", "..typ", ".typ\n", ".ü", "." + "a" * 40])
def test_what_is_no_extension(extension: str) -> None:
    violation = only(with_entry("formats", extensions=[extension]))
    assert (violation.code, violation.pointer) == ("format-extension", "/provides/formats/0/extensions/0")


def test_a_format_has_an_extension() -> None:
    assert codes(with_entry("formats", extensions=[])) == [("format-extension", "/provides/formats/0/extensions")]


def test_an_extension_belongs_to_one_format() -> None:
    def second(document: dict[str, Any]) -> None:
        document["provides"]["formats"].append({"id": "other", "nameKey": "k", "extensions": [".bib"]})

    assert codes(broken(second)) == [("format-extension-duplicate", "/provides/formats/1/extensions/0")]


@pytest.mark.parametrize(
    ("type_", "value"), [("string", ""), ("boolean", False), ("integer", 0), ("number", 1), ("number", 0.5)]
)
def test_defaults_of_their_settings_type(type_: str, value: Any) -> None:
    assert with_entry("settings", type=type_, default=value) == []


@pytest.mark.parametrize(
    ("type_", "value"),
    [("string", 1), ("boolean", 0), ("integer", True), ("integer", 1.0), ("number", "1"), ("number", True)],
)
def test_defaults_of_another_type(type_: str, value: Any) -> None:
    violation = only(with_entry("settings", type=type_, default=value))
    assert (violation.code, violation.pointer) == ("setting-default", "/provides/settings/0/default")
    assert said(violation) == (
        f'the default of "bibliography" is no {type_}. give a value of that type, or change the type'
    )


@pytest.mark.parametrize("default", ["\x1b[2J", "\u202e", "x" * 2001])
def test_a_default_can_be_shown(default: str) -> None:
    violation = only(with_entry("settings", default=default))
    assert (violation.code, violation.pointer, said(violation)) == (
        "setting-default", "/provides/settings/0/default",
        'the default of "bibliography" is too long or holds control characters. use at most 2000 visible characters',
    )  # fmt: skip


def test_a_default_of_no_simple_type_is_of_the_wrong_type() -> None:
    assert codes(with_entry("settings", default=[])) == [("manifest-wrong-type", "/provides/settings/0/default")]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (lambda document: document["capabilities"][0].update(reasonKey="a b"), "/capabilities/0/reasonKey"),
        (lambda document: document["permissions"][1].update(descriptionKey=""), "/permissions/1/descriptionKey"),
        (lambda document: document["provides"]["commands"][0].update(nameKey="-a"), "/provides/commands/0/nameKey"),
        (lambda document: document["provides"]["resources"][1].update(nameKey="a\n"), "/provides/resources/1/nameKey"),
        (
            lambda document: document["provides"]["settings"][0].update(descriptionKey="ä"),
            "/provides/settings/0/descriptionKey",
        ),
    ],
)  # fmt: skip
def test_message_keys_are_identifiers_of_fluent(change: Callable[[dict[str, Any]], object], pointer: str) -> None:
    violation = only(broken(change))
    assert (violation.code, violation.pointer) == ("message-key-invalid", pointer)
