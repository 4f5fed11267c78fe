from __future__ import annotations

from typing import Any

import attrs
import pytest

from tests.manifest.samples import CONTRACT, GOOD, codes, manifest_of, only, reading, said


def after(**change: Any) -> Any:
    return reading({**GOOD, **change}).violations


# -- contract, versions ----------------------------------------------------------------------------------------------


def test_a_lower_contract_is_refused_with_both_numbers_and_what_to_do() -> None:
    violation = only(reading(GOOD, attrs.evolve(CONTRACT, number=3)).violations)
    assert (violation.code, violation.pointer, said(violation)) == (
        "contract-mismatch",
        "/contract",
        ("the manifest is written for contract 1, and this yaz accepts contract 3 only. "
        "take a newer version of the plugin, built for contract 3"),
    )  # fmt: skip


def test_a_higher_contract_is_refused_with_both_numbers_and_what_to_do() -> None:
    violation = only(after(contract=2))
    assert (violation.code, violation.pointer, said(violation)) == (
        "contract-mismatch",
        "/contract",
        ("the manifest is written for contract 2, and this yaz accepts contract 1 only. "
        "update yaz to one that accepts contract 2, or take a version built for contract 1"),
    )  # fmt: skip


@pytest.mark.parametrize("version", ["1.0", "0.1.0rc1", "1!2.0.post3+local", "v1.0"])
def test_versions_of_pep_440(version: str) -> None:
    manifest_of({**GOOD, "version": version})


@pytest.mark.parametrize("version", ["", "one", "1.0\n", " 1.0", "1.0-beta-1-x", "1..0"])
@pytest.mark.parametrize("key", ["version", "minAppVersion"])
def test_what_is_no_version(version: str, key: str) -> None:
    violation = only(after(**{key: version}))
    assert (violation.code, violation.pointer) == ("version-invalid", f"/{key}")
    assert violation.fix == "write it as PEP 440 has it, as in 1.0.0, in at most 64 characters"


@pytest.mark.parametrize("version", ["1" * 65, "9" * 5000, "1" + ".0" * 32, "1.٣"])
def test_a_version_has_an_end_and_digits_of_one_script(version: str) -> None:
    assert codes(after(version=version)) == [("version-invalid", "/version")]
    assert codes(after(minAppVersion=version)) == [("version-invalid", "/minAppVersion")]


def test_a_host_that_does_not_know_its_version_is_no_fault_of_the_plugin() -> None:
    found = reading(GOOD, attrs.evolve(CONTRACT, version="from source"))
    assert found.manifest is not None
    violation = only(found.violations)
    assert (violation.code, violation.severity, violation.pointer, said(violation)) == (
        "host-version-unknown",
        "warning",
        "/minAppVersion",
        ('yaz calls its version "from source", which cannot be compared. '
        "find out whether yaz is new enough for the plugin"),
    )  # fmt: skip


@pytest.mark.parametrize("needed", ["0.1.0", "0.2.0", "0.2", "0.2.0rc1"])
def test_a_host_that_is_new_enough(needed: str) -> None:
    manifest_of({**GOOD, "minAppVersion": needed})


@pytest.mark.parametrize("needed", ["0.2.1", "0.10", "1.0.0rc1"])
def test_a_host_that_is_too_old(needed: str) -> None:
    violation = only(after(minAppVersion=needed))
    assert (violation.code, violation.pointer, said(violation)) == (
        "host-too-old",
        "/minAppVersion",
        (f"the plugin needs yaz {needed} or newer, and this is yaz 0.2.0. "
        "update yaz, or take an older version of the plugin"),
    )  # fmt: skip


# -- id --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plugin_id", ["Zotero", "zotero\n", "a٣", "a" * 25, "a--b", "com.example.a"])
def test_what_is_no_id(plugin_id: str) -> None:
    found = reading({**GOOD, "id": plugin_id}).violations
    assert codes(found) == [("id-invalid", "/id")]
    assert found[0].fix == "begin with a letter, use a-z, 0-9 and single hyphens, at most 24 characters"


SMALL = {key: value for key, value in GOOD.items() if key not in ("permissions", "provides")}


@pytest.mark.parametrize(
    "plugin_id", ["yaz", "core", "mcp", "tools", "permissions", "projects", "project", "result", "help"]
)
def test_reserved_ids_belong_to_the_host(plugin_id: str) -> None:
    violation = only(reading({**SMALL, "id": plugin_id}).violations)
    assert (violation.code, said(violation)) == (
        "id-reserved",
        f'the id "{plugin_id}" belongs to yaz. choose another id',
    )


def test_a_hosts_own_id_is_reserved_too() -> None:
    contract = attrs.evolve(CONTRACT, host="console", reserved=frozenset())
    assert codes(reading({**SMALL, "id": "console"}, contract).violations) == [("id-reserved", "/id")]


# -- module, texts, addresses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["a:B", "a.b.c:Class", "_a._b:_C"])
def test_modules(module: str) -> None:
    manifest_of({**GOOD, "module": module})


@pytest.mark.parametrize(
    "module",
    [
        "", "a", "a.b", "a:", ":B", "a:B.C", "a.:B", ".a:B", "a b:C", "a:B\n", "a-b:C", "a:B()", "os;x:Y", "ä:B",
        "a:" + "B" * 254,
    ],
)  # fmt: skip
def test_what_names_no_class(module: str) -> None:
    violation = only(after(module=module))
    assert (violation.code, violation.pointer) == ("module-invalid", "/module")


@pytest.mark.parametrize("key", ["name", "author", "description", "license"])
def test_what_people_read_says_something(key: str) -> None:
    assert codes(after(**{key: " "})) == [("text-empty", f"/{key}")]


@pytest.mark.parametrize(("key", "longest"), [("name", 100), ("author", 100), ("description", 2000), ("license", 100)])
def test_what_people_read_has_a_longest(key: str, longest: int) -> None:
    assert after(**{key: "x" * longest}) == ()
    assert codes(after(**{key: "x" * (longest + 1)})) == [("text-too-long", f"/{key}")]


@pytest.mark.parametrize("text", ["a\x1b[2J", "a\u202eb", "two\nlines", "tab\t"])
def test_a_name_cannot_disturb_a_terminal(text: str) -> None:
    assert codes(after(name=text)) == [("text-unprintable", "/name")]


def test_a_description_may_have_lines_and_no_other_control_characters() -> None:
    assert after(description="two\nlines") == ()
    assert codes(after(description="a\x1b[2J")) == [("text-unprintable", "/description")]


@pytest.mark.parametrize("icon", ["Z", "字", "\U0001f4da", "\u270f\ufe0f"])
def test_icons(icon: str) -> None:
    assert after(icon=icon) == ()


@pytest.mark.parametrize("icon", ["", " ", "ZZ", "\x07", "\u202e", "\ufe0f", "\ufe0f\ufe0f", "Z\n", "Z\ufe0f\ufe0f"])
def test_what_is_no_icon(icon: str) -> None:
    assert codes(after(icon=icon)) == [("icon-invalid", "/icon")]


@pytest.mark.parametrize(
    "url", ["https://example.org/a", "https://example.org:8443/a?b=c#d", "https://[::1]:65535", "https://a.org?b@c"]
)
def test_repositories(url: str) -> None:
    assert after(repository=url) == ()


@pytest.mark.parametrize(
    "url",
    [
        "", "http://example.org", "git@example.org:a/b", "https://", "https:///a", "https://a b.org", "https://a.org\n",
        "https://user:secret@a.org", "https://a.org:99999/", "https://[::1", "javascript:alert(1)", "https://ä.org",
        "https://a.org/" + "x" * 2048, "https://a.org:0", "https://a.org:65536", "https://a.org\\@b.org", "https://.org",
    ],
)  # fmt: skip
def test_what_is_no_https_url(url: str) -> None:
    assert codes(after(repository=url)) == [("repository-invalid", "/repository")]


@pytest.mark.parametrize("folder", ["locales", "i18n_2"])
def test_folders_of_messages(folder: str) -> None:
    assert after(locales=folder) == ()


@pytest.mark.parametrize("folder", ["", ".", "..", "a/b", "/etc", "a\\b", "../x", "a\x00", "locales\n", "~"])
def test_messages_lie_directly_in_the_package(folder: str) -> None:
    assert codes(after(locales=folder)) == [("locales-invalid", "/locales")]


# -- capabilities ----------------------------------------------------------------------------------------------------


def test_a_kinds_own_faults_stand_at_their_targets() -> None:
    found = after(capabilities=[{"kind": "net", "hosts": ["a.org", "*.b.org"], "readMethods": ["get"]}])
    assert codes(found) == [
        ("capability-wildcard", "/capabilities/0/hosts/1"),
        ("capability-method", "/capabilities/0/readMethods/0"),
    ]


def test_the_same_capability_twice_is_refused() -> None:
    found = after(
        capabilities=[{"kind": "net", "hosts": ["A.org"]}, {"kind": "net", "hosts": ["a.org"], "optional": True}]
    )
    assert [(one.code, one.pointer, one.message) for one in found] == [
        ("capability-duplicate", "/capabilities/1", "this asks for the same as entry 1")
    ]


def test_contributing_is_no_capability() -> None:
    assert codes(after(capabilities=[{"kind": "tools"}])) == [("capability-unknown-kind", "/capabilities/0/kind")]


def test_what_a_kind_says_of_a_strangers_text_is_cut_and_escaped() -> None:
    violation = only(after(capabilities=[{"kind": "process", "commands": ["/\u202e" + "x" * 100_000]}]))
    assert len(violation.message) == 241
    assert violation.message.startswith(r"'/\u202exxx")
    assert violation.message.endswith("xxx' is not a bare command name")
