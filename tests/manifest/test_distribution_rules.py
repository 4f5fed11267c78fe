from __future__ import annotations

import attrs
import pytest

from tests.manifest.samples import CONTRACT
from yazcore.manifest.distribution_rules import (
    Brought,
    entry_faults,
    entry_of,
    file_faults,
    group_faults,
    package_faults,
    script_faults,
    scripts_in,
)

ENTRY = {"zotero": "yaz_plugin_zotero:manifest.json"}
GOOD = Brought(
    name="yaz-plugin-zotero",
    groups={"yaz.manifest": ENTRY, "console_scripts": {"cite": "a:b"}, "gui_scripts": {}},
    info="yaz_plugin_zotero-1.dist-info",
    files=("../../../bin/cite", "yaz_plugin_zotero/manifest.json", "yaz_plugin_zotero-1.dist-info/RECORD"),
)


def test_a_distribution_that_brings_its_plugin_alone_breaks_no_rule() -> None:
    assert entry_of(GOOD.groups, CONTRACT) == ("zotero", "yaz_plugin_zotero")
    assert GOOD.scripts == {"cite"}
    for faults in (
        entry_faults(GOOD, CONTRACT),
        group_faults(GOOD, CONTRACT),
        script_faults(GOOD, CONTRACT, {"cite": frozenset({GOOD.name})}),
        file_faults(GOOD, "yaz_plugin_zotero"),
        package_faults(GOOD, "yaz_plugin_zotero", {GOOD.name}),
    ):
        assert list(faults) == []


@pytest.mark.parametrize("entries", [{}, {**ENTRY, "b": "c:manifest.json"}, {"A": "a:manifest.json"}, {"a": "a"}])
def test_an_entry_that_is_not_what_it_has_to_be_is_none(entries: dict[str, str]) -> None:
    assert entry_of({"yaz.manifest": entries}, CONTRACT) is None
    assert entry_of({}, CONTRACT) is None


def test_an_entry_may_be_wrong_in_two_ways_at_once() -> None:
    wrong = attrs.evolve(GOOD, groups={"yaz.manifest": {"other": "a.b:manifest.json"}})
    assert [fault.code for fault in entry_faults(wrong, CONTRACT)] == ["distribution-name", "entry-point-value"]


def test_without_a_metadata_folder_only_the_package_is_inside() -> None:
    wheel = attrs.evolve(GOOD, info="", files=("/etc/passwd", "yaz_plugin_zotero/manifest.json"), installed=False)
    assert [fault.message for fault in file_faults(wheel, "yaz_plugin_zotero")] == [
        'it would install "/etc/passwd", outside its package "yaz_plugin_zotero"'
    ]


def test_a_long_list_of_strange_files_is_cut() -> None:
    strange = attrs.evolve(GOOD, files=(*(f"{number}.py" for number in range(8)), "yaz_plugin_zotero/manifest.json"))
    (fault,) = file_faults(strange, "yaz_plugin_zotero")
    assert fault.message == (
        'it installed "0.py", "1.py", "2.py", "3.py", "4.py" and 3 more, outside its package "yaz_plugin_zotero"'
    )


@pytest.mark.parametrize(
    ("installed", "message", "fix"),
    [
        (True, 'its command "cite" has replaced the one of a', "uninstall yaz-plugin-zotero, and install a again"),
        (False, 'its command "cite" would replace the one of a', "its author has to give the command another name"),
    ],
)
def test_what_is_installed_is_undone_and_what_is_not_is_mended(installed: bool, message: str, fix: str) -> None:
    brought = attrs.evolve(GOOD, installed=installed)
    (fault,) = script_faults(brought, CONTRACT, {"cite": frozenset({"b", "a", GOOD.name})})
    assert (fault.code, fault.message, fault.fix) == ("distribution-script-taken", message, fix)


def test_commands_are_read_from_both_groups_and_broken_texts_have_none() -> None:
    assert list(scripts_in("[gui_scripts]\nb = x:y\n[console_scripts]\na = x:y\n[other]\nc = d\n")) == ["a", "b"]
    assert list(scripts_in("[console_scripts]\na\n")) == []
