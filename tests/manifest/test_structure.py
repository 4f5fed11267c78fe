from __future__ import annotations

from typing import Any, Literal

import attrs
import pytest

from tests.manifest.samples import CONTRACT, GOOD, broken, codes, good, manifest_of, only, reading, said
from yazcore.contract import Contract
from yazcore.contributions import CONTRIBUTION_KINDS, ContributionKind
from yazcore.kinds import FsProject, Net
from yazcore.manifest.records import camel
from yazcore.manifest.structure import structure


def test_the_good_manifest_has_every_value_in_its_place() -> None:
    manifest = manifest_of(GOOD)
    assert (manifest.contract, manifest.id, manifest.min_app_version) == (1, "zotero", "0.1.0")
    assert manifest.capabilities == (
        FsProject(access="write", reason_key="why-project"),
        Net(hosts=("api.zotero.org",), optional=True, reason_key="why-web"),
    )
    search, cite = manifest.provides.tools
    assert (search.name, search.posture, search.params[0].note) == (
        "search-library",
        "read",
        "words, or a citation key",
    )
    assert (search.deadline_seconds, search.max_result, search.approval) == (30, 40_000, "none")
    assert cite.effect is not None
    assert (cite.effect.idempotent, cite.effect.destructive) == (True, False)
    assert manifest.provides.resources[0].cache.ttl_ms == 5000
    assert manifest.provides.settings[0].default == "references.bib"
    assert manifest.updates is not None


def test_the_smallest_manifest_has_the_required_keys_only() -> None:
    keys = ("contract", "id", "name", "version", "minAppVersion", "author", "description", "module")
    manifest = manifest_of({key: GOOD[key] for key in keys})
    assert (manifest.capabilities, manifest.permissions, manifest.provides.tools, manifest.updates) == (
        (),
        (),
        (),
        None,
    )


def test_a_schema_may_be_named_at_the_top_and_nowhere_else() -> None:
    manifest_of({**GOOD, "$schema": "https://example.org/manifest.json"})
    assert codes(broken(lambda document: document["provides"].update({"$schema": "x"}))) == [
        ("manifest-unknown-key", "/provides/$schema")
    ]
    assert codes(broken(lambda document: document.update({"$schema": 1}))) == [("manifest-wrong-type", "/$schema")]


@pytest.mark.parametrize(
    "key", ["contract", "id", "name", "version", "minAppVersion", "author", "description", "module"]
)
def test_a_required_key_that_is_missing_is_named(key: str) -> None:
    violation = only([one for one in broken(lambda document: document.pop(key)) if one.pointer == f"/{key}"])
    assert (violation.code, said(violation)) == ("manifest-missing-key", f'"{key}" is missing. add "{key}"')


def test_the_two_field_tool_of_seed_0022_is_refused_with_each_key_it_lacks() -> None:
    document = good()
    document["provides"]["tools"] = [{"name": "search-library", "descriptionKey": "zotero-tool-search"}]
    found = reading(document).violations
    assert [(one.code, one.pointer, said(one)) for one in found] == [
        (
            "manifest-missing-key",
            f"/provides/tools/0/{key}",
            f'"{key}" is missing. add "{key}"{choices}',
        )
        for key, choices in (
            ("posture", ', one of "read", "write"'),
            ("scope", ""),
            ("permission", ""),
            ("inputSchema", ""),
        )
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, '"contract" must be a whole number, not true or false'),
        (1.0, '"contract" must be a whole number, not a number with a decimal point'),
        ("1", '"contract" must be a whole number, not text'),
        (None, '"contract" must be a whole number, not null'),
        ([1], '"contract" must be a whole number, not a list'),
    ],
)
def test_only_an_integer_is_one(value: Any, text: str) -> None:
    violation = only(broken(lambda document: document.update(contract=value)))
    assert (violation.code, violation.message) == ("manifest-wrong-type", text)


@pytest.mark.parametrize(
    ("change", "pointer", "text"),
    [
        ({"name": 5}, "/name", '"name" must be text, not a number. put it in quotes'),
        ({"icon": None}, "/icon", '"icon" must be text, not null. leave the key out'),
        (
            {"capabilities": {}},
            "/capabilities",
            '"capabilities" must be a list, not an object. put it in square brackets',
        ),
        (
            {"capabilities": [7]},
            "/capabilities/0",
            'entry 1 of "capabilities" must be an object, not a number. put it in braces',
        ),
        ({"provides": []}, "/provides", '"provides" must be an object, not a list. put it in braces'),
        ({"updates": "pypi"}, "/updates", '"updates" must be an object, not text. put it in braces'),
        ({"permissions": "x"}, "/permissions", '"permissions" must be a list, not text. put it in square brackets'),
    ],
)
def test_a_value_of_another_type_is_named_with_the_one_it_must_have(
    change: dict[str, Any], pointer: str, text: str
) -> None:
    document = {key: value for key, value in GOOD.items() if key != "provides"} | change
    assert [(one.pointer, said(one)) for one in reading(document).violations] == [(pointer, text)]


def test_a_document_that_is_no_object() -> None:
    violation = only(reading([1]).violations)
    assert (violation.pointer, violation.message) == ("", "the manifest must be an object, not a list")


def test_a_text_is_no_list_of_its_letters() -> None:
    found = broken(lambda document: document["capabilities"][1].update(hosts="api.zotero.org"))
    assert codes(found) == [("manifest-wrong-type", "/capabilities/1/hosts")]


def test_an_entry_of_a_list_is_named_with_its_place() -> None:
    violation = only(broken(lambda document: document["capabilities"][1].update(hosts=["a.org", 5])))
    assert (violation.pointer, said(violation)) == (
        "/capabilities/1/hosts/1", 'entry 2 of "hosts" must be text, not a number. put it in quotes',
    )  # fmt: skip


def test_optional_is_true_or_false_and_not_one() -> None:
    found = broken(lambda document: document["capabilities"][1].update(optional=1))
    assert codes(found) == [("manifest-wrong-type", "/capabilities/1/optional")]


@pytest.mark.parametrize(
    ("where", "key", "advice"),
    [
        ([], "minAppVerson", 'did you mean "minAppVersion"?'),
        (["provides"], "tolls", 'did you mean "tools"?'),
        (["provides"], "panels", 'known are "commands", "formats", "tools", "resources", "prompts", "settings"'),
        (["provides", "tools", 0], "description_key", 'did you mean "descriptionKey"?'),
        (["provides", "resources", 0, "cache"], "ttl", 'did you mean "ttlMs"?'),
        (["permissions", 0], "globalOnly", 'known are "action", "descriptionKey"'),
        (["capabilities", 1], "host", 'did you mean "hosts"?'),
        (
            ["capabilities", 1],
            "binaries",
            'known are "reasonKey", "optional", "hosts", "ports", "private", "readMethods", "kind"',
        ),
    ],
)
def test_an_unknown_key_is_refused_everywhere(where: list[str | int], key: str, advice: str) -> None:
    document = good()
    inner: Any = document
    for part in where:
        inner = inner[part]
    inner[key] = 1
    violation = only(reading(document).violations)
    pointer = "".join(f"/{part}" for part in [*where, key])
    assert (violation.code, violation.pointer, violation.message, violation.fix) == (
        "manifest-unknown-key", pointer, f'unknown key "{key}"', advice,
    )  # fmt: skip


def test_a_word_that_is_none_of_those_allowed() -> None:
    found = broken(lambda document: document["provides"]["tools"][0].update(posture="mutate", approval="Ask"))
    assert [(one.code, one.pointer, said(one)) for one in found] == [
        (
            "manifest-not-one-of",
            "/provides/tools/0/posture",
            '"mutate" is not one of "read", "write". use one of "read", "write"',
        ),
        (
            "manifest-not-one-of",
            "/provides/tools/0/approval",
            '"Ask" is not one of "none", "ask". did you mean "ask"?',
        ),
    ]


@pytest.mark.parametrize(
    ("entry", "code", "pointer", "text"),
    [
        (
            {"kind": "nett", "hosts": []}, "capability-unknown-kind", "/kind",
            'yaz knows no capability "nett". did you mean "net"?',
        ),
        ({"hosts": ["a.org"]}, "manifest-missing-key", "/kind", '"kind" is missing. add "kind"'),
        ({"kind": 1}, "manifest-wrong-type", "/kind", '"kind" must be text, not a number. put it in quotes'),
        ({"kind": "net"}, "manifest-missing-key", "/hosts", '"hosts" is missing. add "hosts"'),
        (
            {"kind": "fs-project", "access": "all"}, "manifest-not-one-of", "/access",
            '"all" is not one of "read", "write". use one of "read", "write"',
        ),
    ],
)  # fmt: skip
def test_a_capability_is_read_by_its_kind(entry: dict[str, Any], code: str, pointer: str, text: str) -> None:
    violation = only(reading({**GOOD, "capabilities": [entry]}).violations)
    assert (violation.code, violation.pointer, said(violation)) == (code, f"/capabilities/0{pointer}", text)


@attrs.frozen(kw_only=True)
class PanelDeclaration:
    id: str
    title_key: str
    place: Literal["left", "right"] = "left"
    width: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))
    tags: list[str] = attrs.field(factory=list)


PANELS = ContributionKind(
    key="panels",
    hook="provide_panels",
    declaration=PanelDeclaration,
    registration=PanelDeclaration,
    declared_name=lambda declared: str(declared.id),
    registered_name=lambda registered: str(registered.id),
)
CONSOLE = attrs.evolve(CONTRACT, contribution_kinds=(*CONTRIBUTION_KINDS, PANELS))


def with_panels(*panels: Any, contract: Contract = CONSOLE) -> Any:
    document = good()
    document["provides"]["panels"] = list(panels)
    return reading(document, contract)


def test_a_hosts_own_kind_of_contribution_is_structured_by_its_class() -> None:
    found = with_panels({"id": "queue", "titleKey": "panel-queue", "width": 2, "tags": ["a"]}).manifest
    assert found is not None
    assert found.provides.of("panels") == (PanelDeclaration(id="queue", title_key="panel-queue", width=2, tags=["a"]),)


def test_a_hosts_own_validator_is_heard() -> None:
    violation = only(with_panels({"id": "queue", "titleKey": "t", "width": -1.5}).violations)
    assert (violation.code, violation.pointer) == ("manifest-wrong-value", "/provides/panels/0")
    assert violation.message.startswith('entry 1 of "panels" does not fit: ')


def test_where_a_host_has_no_panels_they_are_an_unknown_key() -> None:
    assert codes(with_panels(contract=CONTRACT).violations) == [("manifest-unknown-key", "/provides/panels")]


def test_a_draft_keeps_what_is_well_formed() -> None:
    document = good()
    del document["provides"]["tools"][0]["posture"]
    document["version"] = 1
    manifest, faults = structure(document, CONTRACT)
    assert manifest is not None
    assert len(faults) == 2
    assert (manifest.id, manifest.version) == ("zotero", "")
    assert (manifest.provides.tools[0].name, manifest.provides.tools[1].name) == ("search-library", "cite-item")


def test_names_on_the_wire() -> None:
    assert [camel(name) for name in ("id", "description_key", "ttl_ms")] == ["id", "descriptionKey", "ttlMs"]
