from __future__ import annotations

import copy
import json
import types
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hosts.console import CONTRACT as CONSOLE
from tests.hosts.console import Panel
from tests.manifest.samples import CONTRACT, GOOD, codes, good, text
from yazcore.contributions import Command, ContributionKind, Format, Prompt, Resource, Tool
from yazcore.differences import differences
from yazcore.manifest.json_text import MOST_BYTES
from yazcore.manifest.reading import read
from yazcore.manifest.structure import structure
from yazcore.manifest.sync import Change, Synced, bare, obstacles, sync
from yazcore.violations import YazError

CLOSED = {"type": "object", "additionalProperties": False}
REGISTERED: dict[str, tuple[Any, ...]] = {
    "commands": (Command("cite", print),),
    "formats": (Format("bib", print, print, print, print),),
    "tools": (Tool("search-library", print), Tool("cite-item", print)),
    "resources": (
        Resource("yaz://zotero/library/{library}/item/{key}", print),
        Resource("yaz://zotero/libraries", print),
    ),
    "prompts": (Prompt("review", print),),
}
"""What a plugin registers that keeps the good manifest's word, without repeating any schema."""


def synced(document: Any, prune: bool = False, **registered: Any) -> Synced:
    """The document, synced with what the good manifest's plugin registers, but for these kinds."""
    return sync(text(document).decode(), {**REGISTERED, **registered}, CONTRACT, prune=prune)


def without(kind: str, *names: str) -> dict[str, Any]:
    """The good manifest without these entries."""
    document = good()
    entries = document["provides"][kind]
    document["provides"][kind] = [one for one in entries if one.get("name", one.get("id")) not in names]
    return document


def entry(made: Synced, kind: str, index: int = -1) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(made.text)["provides"][kind][index]
    return found


# -- what is registered is declared -----------------------------------------------------------------------------------


def test_a_manifest_that_says_it_all_stays_as_it_is() -> None:
    assert synced(GOOD) == Synced(text(GOOD).decode(), ())


def test_a_tool_that_is_not_declared_is_added_with_what_its_registration_says() -> None:
    tools = (Tool("search-library", print), Tool("go", print, CLOSED, CLOSED))
    made = synced(without("tools", "cite-item"), tools=tools)
    assert entry(made, "tools") == {
        "name": "go", "descriptionKey": "tool-go", "posture": "write", "scope": "global", "permission": "zotero:write",
        "inputSchema": CLOSED, "outputSchema": CLOSED,
    }  # fmt: skip
    keys = ("name", "descriptionKey", "posture", "scope", "permission", "inputSchema", "outputSchema")
    assert made.changes == (Change("tools", "go", "added", keys),)


@pytest.mark.parametrize(("hint", "posture"), [(True, "read"), (False, "write"), (None, "write")])
def test_a_new_tool_writes_unless_it_says_that_it_only_reads(hint: bool | None, posture: str) -> None:
    tools = (*REGISTERED["tools"], Tool("go", print, CLOSED, read_only_hint=hint))
    found = entry(synced(GOOD, tools=tools), "tools")
    assert (found["posture"], found["permission"]) == (posture, f"zotero:{posture}")


@pytest.mark.parametrize(
    ("required", "scope"), [(["projectId"], "project"), (["query"], "global"), ([3], "global"), ("projectId", "global")]
)
def test_the_scope_of_a_new_tool_follows_from_the_id_it_must_be_given(required: Any, scope: str) -> None:
    schema = {"type": "object", "properties": {"projectId": {"type": "string"}}, "required": required}
    assert entry(synced(GOOD, tools=(*REGISTERED["tools"], Tool("go", print, schema))), "tools")["scope"] == scope


def test_new_commands_formats_and_prompts_get_what_can_be_known_of_them() -> None:
    made = synced(
        GOOD,
        commands=(*REGISTERED["commands"], Command("un_cite", print)),
        formats=(*REGISTERED["formats"], Format("ris", print, print, print, print)),
        prompts=(*REGISTERED["prompts"], Prompt("sum-up", print)),
    )
    assert entry(made, "commands") == {"id": "un_cite", "nameKey": "command-un-cite"}
    assert entry(made, "formats") == {"id": "ris", "nameKey": "format-ris"}
    assert entry(made, "prompts") == {
        "name": "sum-up", "descriptionKey": "prompt-sum-up", "scope": "global", "permission": "zotero:read",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (
            "yaz://zotero/tags/all",
            {"uri": "yaz://zotero/tags/all", "nameKey": "resource-tags-all",
             "descriptionKey": "resource-tags-all-description", "scope": "global", "permission": "zotero:read"},
        ),
        (
            "yaz://zotero/in/{projectId}/cited",
            {"uriTemplate": "yaz://zotero/in/{projectId}/cited", "nameKey": "resource-in-cited",
             "descriptionKey": "resource-in-cited-description", "scope": "project", "permission": "zotero:read"},
        ),
        (
            "no {template",
            {"uriTemplate": "no {template", "nameKey": "resource-no-template",
             "descriptionKey": "resource-no-template-description", "scope": "global", "permission": "zotero:read"},
        ),
    ],
)  # fmt: skip
def test_a_new_resource_is_named_for_its_path(address: str, expected: dict[str, Any]) -> None:
    made = synced(GOOD, resources=(*REGISTERED["resources"], Resource(address, print)))
    assert entry(made, "resources") == expected


def test_no_two_new_texts_have_the_same_key() -> None:
    document = without("tools", "search-library", "cite-item")
    document["permissions"][0]["descriptionKey"] = "tool-go"
    resources = [Resource(f"yaz://zotero/{{{name}}}/item", print) for name in "ab"]
    made = synced(document, tools=[Tool("go", print, CLOSED)], resources=[*REGISTERED["resources"], *resources])
    assert entry(made, "tools")["descriptionKey"] == "tool-go-2"
    assert [entry(made, "resources", index)["nameKey"] for index in (2, 3)] == ["resource-item-2", "resource-item-3"]
    assert entry(made, "resources")["descriptionKey"] == "resource-item-description-2"


def test_what_only_the_author_can_know_is_reported_by_reading() -> None:
    made = synced(
        GOOD,
        tools=(*REGISTERED["tools"], Tool("go", print)),
        formats=(*REGISTERED["formats"], Format("ris", print, print, print, print)),
        resources=(*REGISTERED["resources"], Resource("yaz://zotero/tags/{tag}", print)),
    )
    assert codes(read(made.text.encode(), CONTRACT).violations) == [
        ("manifest-missing-key", "/provides/formats/1/extensions"),
        ("manifest-missing-key", "/provides/tools/2/inputSchema"),
        ("resource-variable-undocumented", "/provides/resources/2/variables"),
    ]


def test_a_permission_that_is_not_declared_is_proposed_all_the_same_and_reported() -> None:
    document = without("tools", "cite-item")
    del document["permissions"][1]
    made = synced(document, tools=(REGISTERED["tools"][0], Tool("go", print, CLOSED)))
    assert codes(read(made.text.encode(), CONTRACT).violations) == [
        ("tool-permission-undeclared", "/provides/tools/1/permission")
    ]


def test_a_manifest_without_provides_gets_everything_in_the_order_of_the_contract() -> None:
    document = good()
    del document["provides"]
    made = synced(document)
    assert list(json.loads(made.text)["provides"]) == ["commands", "formats", "tools", "resources", "prompts"]
    assert {change.what for change in made.changes} == {"added"}
    assert len(made.changes) == 7


def test_a_kind_that_is_new_stands_behind_those_that_come_before_it() -> None:
    document = good()
    provides = document["provides"]
    document["provides"] = {"settings": provides["settings"], "tools": provides["tools"], "commands": []}
    made = sync(text(document).decode(), {**REGISTERED, "prompts": ()}, CONTRACT)
    assert list(json.loads(made.text)["provides"]) == ["settings", "tools", "commands", "formats", "resources"]


def test_nothing_is_declared_where_nothing_is_registered() -> None:
    document = {**good(), "provides": {}}
    assert sync(text(document).decode(), {}, CONTRACT).changes == ()


# -- what is declared already -----------------------------------------------------------------------------------------


def test_a_schema_follows_its_registration_and_nothing_else_of_the_entry_does() -> None:
    schema = copy.deepcopy(GOOD["provides"]["tools"][0]["inputSchema"])
    schema["properties"]["limit"]["maximum"] = 60
    made = synced(GOOD, tools=(Tool("search-library", print, schema), REGISTERED["tools"][1]))
    assert made.changes == (Change("tools", "search-library", "updated", ("inputSchema",)),)
    assert made.text == text(GOOD).decode().replace('"maximum": 50', '"maximum": 60')


def test_a_schema_that_was_not_declared_stands_behind_its_neighbour() -> None:
    made = synced(GOOD, tools=(REGISTERED["tools"][0], Tool("cite-item", print, output_schema=CLOSED)))
    assert list(entry(made, "tools")) == [
        "name", "descriptionKey", "posture", "scope", "permission", "effect", "inputSchema", "outputSchema",
    ]  # fmt: skip


def test_a_schema_that_the_registration_leaves_out_is_the_author_s() -> None:
    document = good()
    document["provides"]["tools"][0]["inputSchema"]["properties"]["more"] = {"type": "boolean"}
    assert synced(document).changes == ()


def test_a_posture_that_the_author_wrote_is_left_to_the_author() -> None:
    made = synced(GOOD, tools=(Tool("search-library", print, read_only_hint=False), REGISTERED["tools"][1]))
    assert made.changes == ()


def test_an_entry_of_which_only_the_name_is_there_is_completed() -> None:
    document = without("tools", "cite-item")
    document["provides"]["tools"].append({"name": "cite-item", "posture": "read"})
    made = synced(document, tools=(REGISTERED["tools"][0], Tool("cite-item", print, CLOSED)))
    assert entry(made, "tools") == {
        "name": "cite-item", "descriptionKey": "tool-cite-item", "posture": "read", "scope": "global",
        "permission": "zotero:read", "inputSchema": CLOSED,
    }  # fmt: skip
    assert made.changes == (
        Change("tools", "cite-item", "updated", ("descriptionKey", "scope", "permission", "inputSchema")),
    )
    assert list(entry(made, "tools"))[:3] == ["name", "descriptionKey", "posture"]


def test_what_is_declared_and_not_registered_stays_unless_it_is_to_go() -> None:
    assert synced(GOOD, tools=(REGISTERED["tools"][1],)).changes == ()
    made = synced(GOOD, prune=True, tools=(REGISTERED["tools"][1],), prompts=())
    assert made.changes == (Change("tools", "search-library", "removed"), Change("prompts", "review", "removed"))
    provides = json.loads(made.text)["provides"]
    assert ([one["name"] for one in provides["tools"]], provides["prompts"]) == (["cite-item"], [])


def test_of_what_is_registered_twice_the_first_counts() -> None:
    made = synced(GOOD, tools=(*REGISTERED["tools"], Tool("go", print, CLOSED), Tool("go", print)))
    assert entry(made, "tools")["inputSchema"] == CLOSED
    assert len(made.changes) == 1


def test_a_kind_of_a_host_s_own_is_declared_with_what_its_registration_says() -> None:
    document = {
        "contract": 7, "id": "demo", "name": "Demo", "version": "1.0", "minAppVersion": "1.0", "author": "Anna",
        "description": "A demo.", "module": "demo.plugin:Demo",
        "provides": {"panels": [{"id": "old", "nameKey": "panel", "width": 2}]},
    }  # fmt: skip
    made = sync(json.dumps(document), {"panels": (Panel("old", print, 3), Panel("new", print))}, CONSOLE)
    assert json.loads(made.text)["provides"]["panels"] == [
        {"id": "old", "nameKey": "panel", "width": 3}, {"id": "new", "nameKey": "panel-new"},
    ]  # fmt: skip
    assert [change.keys for change in made.changes] == [("width",), ("id", "nameKey")]


@attrs.frozen(kw_only=True)
class RouteDeclaration:
    id: str
    handler: str


@attrs.frozen
class Route:
    id: str
    handler: Any


ROUTES = ContributionKind(
    key="routes", hook="provide_routes", declaration=RouteDeclaration, registration=Route,
    declared_name=lambda declared: str(declared.id), registered_name=lambda registered: str(registered.id),
)  # fmt: skip


def test_code_is_never_taken_for_something_to_declare() -> None:
    contract = attrs.evolve(CONTRACT, contribution_kinds=(ROUTES,))
    made = sync(json.dumps({"id": "demo"}), {"routes": (Route("go", print),)}, contract)
    assert json.loads(made.text)["provides"]["routes"] == [{"id": "go"}]


# -- what no manifest can hold ----------------------------------------------------------------------------------------


def test_a_tuple_and_a_mapping_are_plain_data() -> None:
    schema = types.MappingProxyType({"type": "object", "required": ("a",), "additionalProperties": False})
    made = synced(GOOD, tools=(*REGISTERED["tools"], Tool("go", print, schema)))
    assert entry(made, "tools")["inputSchema"] == {"type": "object", "required": ["a"], "additionalProperties": False}


CYCLE: dict[str, Any] = {}
CYCLE["a"] = CYCLE


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ({"default": object()}, "a object"),
        ({"maximum": float("inf")}, "inf"),
        ({3: True}, "the key 3"),
        (CYCLE, "itself"),
        ({"enum": {"a"}}, "a set"),
    ],
)
def test_a_registration_with_what_no_json_has_is_refused(schema: Any, what: str) -> None:
    with pytest.raises(YazError) as caught:
        synced(GOOD, tools=(*REGISTERED["tools"], Tool("go", print, schema)))
    assert (caught.value.code, caught.value.message) == (
        "sync-not-json", f"provide_tools registered 'go' with a inputSchema that holds {what}",
    )  # fmt: skip


DEEP: dict[str, Any] = {}
for _ in range(40):
    DEEP = {"items": DEEP}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"description": "x" * MOST_BYTES}, "the manifest is larger than 262144 bytes"),
        (DEEP, "this nests deeper than 32 levels"),
        ({"description": "\ud800"}, "this text holds half of a surrogate pair"),
        ({"maximum": 2**70}, "11805916207174113034 is no number that a manifest may hold"),
    ],
)
def test_a_registration_that_fits_no_manifest_is_refused(schema: Any, reason: str) -> None:
    with pytest.raises(YazError) as caught:
        synced(GOOD, tools=(*REGISTERED["tools"], Tool("go", print, schema)))
    assert (caught.value.code, caught.value.message) == (
        "sync-unwritable", f"what the hooks register fits no manifest: {reason}",
    )  # fmt: skip


# -- what has to be mended first --------------------------------------------------------------------------------------


def hindered(document: Any) -> list[tuple[str, str]]:
    data = document if isinstance(document, bytes) else text(document)
    return codes(obstacles(read(data, CONTRACT), CONTRACT))


def changed(path: str, value: Any) -> dict[str, Any]:
    """The good manifest with another value at a place; None takes it out."""
    document = good()
    *parents, last = [int(part) if part.isdecimal() else part for part in path.split("/")]
    target: Any = document
    for part in parents:
        target = target[part]
    if value is None:
        del target[last]
    else:
        target[last] = value
    return document


@pytest.mark.parametrize(
    "document",
    [
        GOOD,
        changed("provides/tools/0/inputSchema", None),
        changed("provides/tools/0/permission", "other:read"),
        changed("provides/tools/0/posture", 3),
        changed("provides/tools/1/inputSchema", {"type": "object"}),
        changed("provides/tools/0/name", "No Name"),
        changed("provides/tools/0/inputschema", {}),
        changed("provides/resources/0/variables", None),
        changed("provides/formats/0/extensions", []),
    ],
)
def test_what_is_wrong_inside_an_entry_hinders_nothing(document: Any) -> None:
    assert hindered(document) == []


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (b"{", [("json-syntax", "")]),
        (b"\xff\xfe", [("json-bom", "")]),
        (b'{"id": "a", "id": "b"}', [("json-duplicate-key", "/id")]),
        ([], [("manifest-wrong-type", "")]),
        (changed("licence", "MIT"), [("manifest-unknown-key", "/licence")]),
        (changed("version", "x"), [("version-invalid", "/version")]),
        (changed("provides/settings/0/type", "text"), [("manifest-not-one-of", "/provides/settings/0/type")]),
        (changed("provides/tool", []), [("manifest-unknown-key", "/provides/tool")]),
        (changed("provides/tools", {}), [("manifest-wrong-type", "/provides/tools")]),
        (changed("provides", []), [("manifest-wrong-type", "/provides")]),
        (changed("permissions/0/action", "read"), [("permission-invalid", "/permissions/0/action")]),
        (changed("provides/tools/0/name", None), [("sync-entry-unnamed", "/provides/tools/0")]),
        (changed("provides/tools/0", 3), [("sync-entry-unnamed", "/provides/tools/0")]),
        (changed("provides/resources/1/uri", None), [("sync-entry-unnamed", "/provides/resources/1")]),
        (changed("provides/tools/1/name", "search-library"), [("sync-entry-repeated", "/provides/tools/1")]),
        (changed("provides/resources/1/uri", 3), [("sync-entry-unnamed", "/provides/resources/1")]),
    ],
)
def test_whatever_else_is_wrong_has_to_be_mended_first(document: Any, expected: list[tuple[str, str]]) -> None:
    assert [one for one in hindered(document) if "missing" not in one[0]] == expected


def test_a_key_that_stands_twice_inside_an_entry_is_no_text_to_edit() -> None:
    data = text(GOOD).replace(b'"posture": "read",', b'"posture": "read", "posture": "write",')
    assert hindered(data) == [("json-duplicate-key", "/provides/tools/0/posture")]


def test_obstacles_say_where_they_are_and_what_to_do() -> None:
    document = changed("provides/tools/1/name", "search-library")
    (repeated,) = obstacles(read(text(document), CONTRACT), CONTRACT)
    assert (repeated.message, repeated.fix) == ('entry 1 of "tools" is "search-library" too', "take one of them out")
    assert (repeated.pointer, repeated.line) == ("/provides/tools/1", 88)
    (unnamed,) = obstacles(read(text(changed("provides/tools/0/name", None)), CONTRACT), CONTRACT)
    assert unnamed.message == "nothing says which of the tools this is"
    assert unnamed.fix == "name it as the code does, or take it out"


def test_more_faults_than_are_named_hinder() -> None:
    document = good()
    document["provides"]["commands"] = [{"id": f"c{index}", "nameKey": "b", "odd": 1} for index in range(200)]
    assert hindered(document) == [("manifest-too-many-faults", "")]


def test_what_is_left_to_start_a_plugin_is_clean_whatever_is_wrong_with_its_entries() -> None:
    document = changed("provides/tools/0", {"name": "x", "odd": 1})
    left = bare(document, CONTRACT)
    assert left["provides"] == {"settings": GOOD["provides"]["settings"]}
    assert read(text(left), CONTRACT).violations == ()
    assert bare({"id": "a"}, CONTRACT) == {"id": "a", "provides": {}}


# -- every manifest, every registration -------------------------------------------------------------------------------

NAMES = st.sampled_from(["search-library", "cite-item", "go", "stop", "look-up"])
SCHEMAS = st.sampled_from(
    [
        CLOSED,
        {"type": "object", "properties": {"projectId": {"type": "string"}}, "required": ["projectId"],
         "additionalProperties": False},
        {"type": "object", "properties": {"a": {"type": "integer", "maximum": 3}}, "additionalProperties": False},
    ]
)  # fmt: skip


@st.composite
def registrations(draw: st.DrawFn) -> dict[str, Any]:
    """What hooks may return, schemas included, so that nothing but texts is left to the author."""
    tools = [
        Tool(name, print, draw(SCHEMAS), draw(st.none() | st.just(CLOSED)), draw(st.none() | st.booleans()))
        for name in draw(st.lists(NAMES, unique=True))
    ]
    commands = [Command(name, print) for name in draw(st.lists(NAMES, unique=True))]
    prompts = [Prompt(name, print) for name in draw(st.lists(NAMES, unique=True))]
    addresses = draw(st.lists(NAMES.map("yaz://zotero/{}".format), unique=True))
    return {"tools": tools, "commands": commands, "prompts": prompts,
            "resources": [Resource(address, print) for address in addresses]}  # fmt: skip


@given(registrations(), registrations(), st.sampled_from([None, 2, "\t"]), st.booleans())
def test_a_synced_manifest_reads_clean_and_agrees_and_stays(
    first: dict[str, Any], then: dict[str, Any], indent: Any, prune: bool
) -> None:
    head = {**{key: value for key, value in GOOD.items() if key != "provides"}, "updates": {"source": "pypi"}}
    start = json.dumps(head, indent=indent)
    made = sync(start, first, CONTRACT)
    assert read(made.text.encode(), CONTRACT).violations == (), made.text
    again = sync(made.text, then, CONTRACT, prune=prune)
    assert sync(again.text, then, CONTRACT, prune=prune) == Synced(again.text, ())
    draft, _ = structure(json.loads(again.text), CONTRACT)
    assert draft is not None
    left = differences(draft, CONTRACT, then)
    assert {one.change for one in left} <= {"changed"} | ({"missing"} if not prune else set())
    # a posture that stands there is the author's: the only thing that sync never makes agree
    assert all(isinstance(one.registered, bool) for one in left if one.change == "changed")


@given(registrations())
def test_every_line_outside_of_what_changed_is_as_it_was(then: dict[str, Any]) -> None:
    before = text(GOOD).decode()
    after = sync(before, {**REGISTERED, **then}, CONTRACT).text
    for part in ('"capabilities": [', '"settings": [', '"updates": {', '"name": "Zotero"', '"formats": ['):
        start = before.index(part)
        whole = before[start : before.index("\n  ]" if part == '"capabilities": [' else "\n", start)]
        assert whole in after
    for tool in GOOD["provides"]["tools"]:
        registered = {one.name: one for one in then["tools"]}.get(tool["name"])
        if registered is None:
            shown = json.dumps(tool, indent=2, ensure_ascii=False).replace("\n", "\n      ")
            assert shown in after


def test_a_change_is_plain_data() -> None:
    assert Change("tools", "go", "added", ("name",)).as_json() == {
        "kind": "tools", "name": "go", "what": "added", "keys": ["name"],
    }  # fmt: skip
