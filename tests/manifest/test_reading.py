from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.manifest.samples import CONTRACT, GOOD, broken, codes, good, only, reading, said, text
from yazcore.contract import Contract
from yazcore.manifest.discovery import Found
from yazcore.manifest.model import Manifest
from yazcore.manifest.reading import Reading, read, read_found
from yazcore.manifest.words import is_printable
from yazcore.violations import sentence


def check_promises(found: Reading) -> None:
    """What holds for every reading, whatever was read."""
    assert (found.manifest is None) == any(one.severity == "error" for one in found.violations)
    places = [(one.line, one.column) for one in found.violations if one.line is not None]
    assert places == sorted(places)
    for one in found.violations:
        assert one.code
        assert one.message
        assert one.fix
        assert is_printable(sentence(one))


@given(st.binary(max_size=200))
@example(b"")
@example(b"[" * 5000)
def test_no_bytes_raise(data: bytes) -> None:
    check_promises(read(data, CONTRACT))


TEXT = text(GOOD)
SCRAPS = [
    b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"null", b"true", b"1.0", b"-1", b"NaN", b"{}", b"[]", b'""',
    b"\\ud800", b"\\u0000", b"\xff", b'"contract": 2, ', b'"kind": "process", ', b"*", b"\n", b"\xe2\x80\xae",
]  # fmt: skip


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.integers(0, len(TEXT)), st.integers(0, 20), st.sampled_from(SCRAPS) | st.binary(max_size=3)),
        min_size=1,
        max_size=6,
    )
)
def test_no_spoiled_manifest_raises(edits: list[tuple[int, int, bytes]]) -> None:
    data = TEXT
    for at, cut, scrap in edits:
        data = data[:at] + scrap + data[at + cut :]
    check_promises(read(data, CONTRACT))


def places(document: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


ODD = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        10**18,
        1.5,
        "",
        "*",
        "\x00",
        "a\n",
        "..",
        "\u202e",
        "x" * 300,
        [],
        {},
        [[]],
        [""],
        {"a": 1},
        "project",
    ]
)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(places(GOOD)[1:]), ODD | st.text(max_size=5)), min_size=1, max_size=4))
def test_no_odd_value_anywhere_raises(changes: list[tuple[tuple[str | int, ...], Any]]) -> None:
    document = good()
    for path, value in changes:
        inner: Any = document
        try:
            for part in path[:-1]:
                inner = inner[part]
            inner[path[-1]] = copy.deepcopy(value)
        except (TypeError, LookupError):  # an earlier change took the place away
            continue
    check_promises(reading(document))


def test_a_good_manifest_has_no_violations_and_its_document() -> None:
    found = reading(GOOD)
    assert isinstance(found.manifest, Manifest)
    assert (found.violations, found.document) == ((), GOOD)


def test_bytes_that_are_no_json_have_no_document() -> None:
    found = read(b"{", CONTRACT)
    assert (found.manifest, found.document, found.violations[0].code) == (None, None, "json-syntax")


BAD = b"""{
  "contract": 2,
  "id": "Zotero",
  "name": "Z", "version": "one", "minAppVersion": "9.0", "minAppVersion": "9.1",
  "author": "A", "module": "yaz_plugin_zotero",
  "description": "\\ud800",
  "capabilities": [{"kind": "net", "hosts": ["*"]}, {"kind": "fs-read", "pth": "x"}],
  "permissions": [{"action": "other:read", "descriptionKey": "k"}],
  "provides": {
    "tools": [
      {"name": "search", "descriptionKey": "k"},
      {"name": "search", "descriptionKey": "k!", "posture": "reed", "scope": "globl",
       "permission": "other:reed", "inputSchema": {"type": "object"}, "deadlineSeconds": NaN}
    ],
    "toolz": []
  }
}"""


def test_everything_is_reported_at_once_in_document_order() -> None:
    found = read(BAD, CONTRACT)
    assert [(one.line, one.column, one.code, one.pointer) for one in found.violations] == [
        (2, 15, "contract-mismatch", "/contract"),
        (3, 9, "id-invalid", "/id"),
        (4, 27, "version-invalid", "/version"),
        (4, 58, "json-duplicate-key", "/minAppVersion"),
        (4, 75, "host-too-old", "/minAppVersion"),
        (5, 28, "module-invalid", "/module"),
        (6, 18, "json-lone-surrogate", "/description"),
        (7, 46, "capability-wildcard", "/capabilities/0/hosts/0"),
        (7, 73, "manifest-unknown-key", "/capabilities/1/pth"),
        (11, 7, "manifest-missing-key", "/provides/tools/0/posture"),
        (11, 7, "manifest-missing-key", "/provides/tools/0/scope"),
        (11, 7, "manifest-missing-key", "/provides/tools/0/permission"),
        (11, 7, "manifest-missing-key", "/provides/tools/0/inputSchema"),
        (12, 16, "name-duplicate", "/provides/tools/1/name"),
        (12, 44, "message-key-invalid", "/provides/tools/1/descriptionKey"),
        (12, 61, "manifest-not-one-of", "/provides/tools/1/posture"),
        (12, 78, "scope-unknown", "/provides/tools/1/scope"),
        (13, 22, "tool-permission-undeclared", "/provides/tools/1/permission"),
        (13, 51, "tool-input-open", "/provides/tools/1/inputSchema"),
        (13, 90, "json-number", "/provides/tools/1/deadlineSeconds"),
        (15, 5, "manifest-unknown-key", "/provides/toolz"),
    ]
    check_promises(found)


def test_one_mistake_is_one_violation() -> None:
    assert codes(broken(lambda document: document.pop("id"))) == [("manifest-missing-key", "/id")]
    assert codes(broken(lambda document: document.update(id=5))) == [("manifest-wrong-type", "/id")]
    assert codes(broken(lambda document: document["provides"]["tools"][0].pop("permission"))) == [
        ("manifest-missing-key", "/provides/tools/0/permission")
    ]


def test_a_list_is_not_blamed_for_an_entry_that_could_not_be_read() -> None:
    def spoil(document: dict[str, Any]) -> None:
        document["provides"]["formats"][0]["extensions"] = [5]
        document["provides"]["resources"][0]["variables"][0]["note"] = 5
        document["provides"]["prompts"][0].update(
            scope="project", arguments=[{"name": "projectId", "note": "n", "required": 1}]
        )

    assert codes(broken(spoil)) == [
        ("manifest-wrong-type", "/provides/formats/0/extensions/0"),
        ("manifest-wrong-type", "/provides/resources/0/variables/0/note"),
        ("manifest-wrong-type", "/provides/prompts/0/arguments/0/required"),
    ]


def test_of_very_many_faults_a_hundred_are_named() -> None:
    found = broken(lambda document: document["provides"].update(commands=[{}] * 300))
    assert len(found) == 101
    assert (found[0].code, found[0].pointer, said(found[0])) == (
        "manifest-too-many-faults", "",
        "more than 100 things are wrong, and no more of them are named. mend these, and look again",
    )  # fmt: skip


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.update({f"minAppVersoin{number}": 1 for number in range(3000)}),
        lambda document: document["provides"]["resources"][0].update(
            uriTemplate="yaz://zotero/" + "/".join(f"{{a{number}}}" for number in range(9000)), variables=[]
        ),
        lambda document: document["provides"]["tools"][0].update(params=[{"name": f"querie{n}"} for n in range(400)]),
        lambda document: document.update(description=[float("nan")] * 9000),
    ],
    ids=["unknown keys", "variables", "parameters", "numbers"],
)
def test_a_flood_of_faults_is_cut_wherever_it_comes_from(spoil: Any) -> None:
    assert len(broken(spoil)) <= 101


def test_a_list_has_a_most_of_entries() -> None:
    violation = only(broken(lambda document: document["permissions"].extend([{}] * 499)))
    assert (violation.code, violation.pointer, said(violation)) == (
        "manifest-too-many", "/permissions",
        '"permissions" has 501 entries, and at most 500 are read. leave some out, or split the plugin',
    )  # fmt: skip


def test_tools_are_not_blamed_for_a_permission_that_could_not_be_read() -> None:
    assert codes(broken(lambda document: document.update(permissions=7))) == [("manifest-wrong-type", "/permissions")]
    assert codes(broken(lambda document: document["permissions"][0].pop("action"))) == [
        ("manifest-missing-key", "/permissions/0/action")
    ]


def test_a_violation_of_a_rule_reads_with_its_place() -> None:
    violation = only(broken(lambda document: document["provides"]["tools"][1].update(permission="zotero:wriet")))
    assert sentence(violation) == (
        '93:23 /provides/tools/1/permission [tool-permission-undeclared] the permission "zotero:wriet" is not declared '
        'by this plugin. did you mean "zotero:write"?'
    )


@pytest.mark.parametrize("path", ["/data/ada", "/data", "/data/ada/.ssh", "~/x", "/home/bea", "/x/../y"])
def test_reading_depends_on_bytes_and_contract_alone(
    path: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    document = {**good(), "capabilities": [{"kind": "fs-read", "path": path}]}
    found = []
    for home in ("/home/bea", "/data/ada", "nowhere"):
        monkeypatch.setenv("HOME", home)
        found.append(reading(document))
    monkeypatch.chdir(tmp_path)
    assert found == [reading(document)] * 3


def test_the_hosts_own_manifest_may_have_its_reserved_id_and_no_other_may() -> None:
    document = {key: value for key, value in GOOD.items() if key not in ("permissions", "provides")} | {"id": "yaz"}
    assert codes(reading(document).violations) == [("id-reserved", "/id")]
    assert reading(document, own=True).violations == ()


def test_the_package_is_held_against_the_module_where_it_is_known() -> None:
    assert reading(GOOD, package="yaz_plugin_zotero").violations == ()
    violation = only(reading(GOOD, package="yaz_plugin_other").violations)
    assert (violation.code, violation.pointer) == ("module-elsewhere", "/module")
    assert (violation.message, violation.fix) == (
        'the manifest lies in the package "yaz_plugin_other", and its class in "yaz_plugin_zotero"',
        "name a class of yaz_plugin_other",
    )


def test_another_host_reads_by_its_own_contract() -> None:
    console = Contract(number=7, group="console.manifest", prefix="console-", host="console", version="2.0")
    found = reading(GOOD, console).violations
    assert ("contract-mismatch", "/contract") in codes(found)
    assert ("scope-unknown", "/provides/tools/1/scope") in codes(found)


# -- a plugin that was found -----------------------------------------------------------------------------------------


def found_in(folder: Path, **more: Any) -> Found:
    package = folder / "yaz_plugin_zotero"
    package.mkdir(exist_ok=True)
    values: dict[str, Any] = {
        "id": "zotero",
        "distribution": "yaz-plugin-zotero",
        "version": "0.1.0",
        "origin": "installed",
    }
    return Found(**{**values, "folder": package, "manifest": package / "manifest.json", **more})


def test_a_found_plugin_is_read_from_its_file(tmp_path: Path) -> None:
    found = found_in(tmp_path)
    found.manifest.write_bytes(TEXT)
    assert read_found(found, CONTRACT).manifest is not None


def test_a_found_plugin_agrees_with_its_distribution(tmp_path: Path) -> None:
    found = found_in(tmp_path, id="other", version="0.2.0")
    document = {**GOOD, "module": "another:Class"}
    found.manifest.write_text(json.dumps(document))
    assert [(one.code, one.message) for one in read_found(found, CONTRACT).violations] == [
        ("id-differs", 'the manifest says "zotero", the entry point of yaz-plugin-zotero "other"'),
        ("version-differs", 'the manifest says "0.1.0", and yaz-plugin-zotero is "0.2.0"'),
        ("module-elsewhere", 'the manifest lies in the package "yaz_plugin_zotero", and its class in "another"'),
    ]


def test_versions_are_compared_as_versions(tmp_path: Path) -> None:
    found = found_in(tmp_path, version="0.1")
    found.manifest.write_bytes(TEXT)
    assert read_found(found, CONTRACT).violations == ()


def test_a_shipped_plugin_may_have_a_reserved_id_and_no_distribution(tmp_path: Path) -> None:
    found = found_in(tmp_path, id="zotero", distribution=None, version="", origin="builtin")
    found.manifest.write_bytes(TEXT)
    reserved = Contract(
        number=1, group="g", prefix="p-", host="yaz", version="1.0", reserved=frozenset({"zotero"}),
        scope_kinds=CONTRACT.scope_kinds,
    )  # fmt: skip
    assert read_found(found, reserved).violations == ()


def test_an_installed_plugin_may_not(tmp_path: Path) -> None:
    found = found_in(tmp_path, id="yaz")
    found.manifest.write_text(json.dumps({**GOOD, "id": "yaz", "permissions": [], "provides": {}}))
    assert codes(read_found(found, CONTRACT).violations) == [("id-reserved", "/id")]


def test_a_file_that_is_not_there_is_a_violation(tmp_path: Path) -> None:
    violation = only(read_found(found_in(tmp_path), CONTRACT).violations)
    assert (violation.code, violation.message) == (
        "manifest-unreadable", "the manifest cannot be read: No such file or directory",
    )  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_pipe_in_the_place_of_the_file_does_not_block(tmp_path: Path) -> None:
    found = found_in(tmp_path)
    os.mkfifo(found.manifest)
    assert only(read_found(found, CONTRACT).violations).code == "manifest-unreadable"


def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    found = found_in(tmp_path)
    with open(found.manifest, "wb") as file:
        file.truncate(2**40)  # sparse: it would not fit into memory
    assert only(read_found(found, CONTRACT).violations).code == "json-too-large"
