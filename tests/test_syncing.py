from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.testing.projects import CODE, CONTRACT, ECHO, installed, package
from yazcore.check import check_target
from yazcore.manifest.sync import Change
from yazcore.syncing import SyncReport, sync_folder
from yazcore.violations import Violation, YazError
from yazcore.writing.contract import SHIPPED, YAZ

SCHEMA = {"type": "object", "additionalProperties": False}
TWO = CODE.replace('Tool("echo", self.echo)', f'Tool("echo", self.echo), Tool("go", self.echo, {SCHEMA!r})')
"""The plugin's code with a second tool, which its manifest does not declare."""

TEXTS = "text = A text\ntool-go = Goes\n"
WRITING = [{"action": f"demo:{word}", "descriptionKey": "text"} for word in ("read", "write")]


def document(where: Path) -> Any:
    return json.loads((where / "manifest.json").read_text())


def codes(report: SyncReport) -> list[str]:
    return [violation.code for violation in report.violations]


def test_a_plugin_that_keeps_its_word_has_nothing_to_sync(tmp_path: Path) -> None:
    where = package(tmp_path)
    before = (where / "manifest.json").read_text()
    assert sync_folder(where, CONTRACT) == SyncReport(asked=True, before=before, after=before)
    assert (where / "manifest.json").read_text() == before


def test_what_the_code_registers_is_written_and_the_plugin_is_clean_then(tmp_path: Path) -> None:
    where = package(tmp_path, code=TWO, texts=TEXTS, permissions=WRITING)
    report = sync_folder(where, CONTRACT)
    assert (report.written, report.refuses, report.violations, report.differences) == (True, False, (), ())
    keys = ("name", "descriptionKey", "posture", "scope", "permission", "inputSchema")
    assert report.changes == (Change("tools", "go", "added", keys),)
    assert [tool["name"] for tool in document(where)["provides"]["tools"]] == ["echo", "go"]
    assert (where / "manifest.json").read_text() == report.after
    report = check_target(where, CONTRACT)
    assert (report.violations, report.differences) == ((), ())
    assert sync_folder(where, CONTRACT).changes == ()


@pytest.mark.parametrize("place", [".", "src"])
def test_a_project_is_synced_by_its_one_package(tmp_path: Path, place: str) -> None:
    where = package(tmp_path / place, code=TWO)
    assert sync_folder(tmp_path, CONTRACT).written
    assert len(document(where)["provides"]["tools"]) == 2


def test_what_is_left_to_the_author_is_found_by_reading_and_checking(tmp_path: Path) -> None:
    unwritten = sync_folder(package(tmp_path / "a", code=TWO, permissions=WRITING), CONTRACT)
    assert [(one.code, one.pointer) for one in unwritten.violations] == [
        ("message-missing", "/provides/tools/1/descriptionKey")
    ]
    undeclared = sync_folder(package(tmp_path / "b", code=TWO, texts=TEXTS), CONTRACT)
    assert [(one.code, one.pointer) for one in undeclared.violations] == [
        ("tool-permission-undeclared", "/provides/tools/1/permission")
    ]
    assert unwritten.refuses
    assert undeclared.refuses
    assert unwritten.written
    assert undeclared.written


def test_without_writing_the_file_stays_and_the_report_is_the_same(tmp_path: Path) -> None:
    where = package(tmp_path, code=TWO, texts=TEXTS, permissions=WRITING)
    before = (where / "manifest.json").read_text()
    report = sync_folder(where, CONTRACT, write=False)
    assert (report.written, report.before, len(report.changes)) == (False, before, 1)
    assert (where / "manifest.json").read_text() == before
    assert report.after == sync_folder(where, CONTRACT).after
    assert report.diff[:2] == ("--- manifest.json as it is", "+++ manifest.json as the code has it")
    assert '+        "name": "go",' in report.diff
    assert not any(line.startswith("-") for line in report.diff[2:])


def test_what_is_declared_and_not_registered_is_a_difference_until_it_is_pruned(tmp_path: Path) -> None:
    where = package(tmp_path, code=CODE.replace('[Tool("echo", self.echo)]', "[]"))
    report = sync_folder(where, CONTRACT)
    assert (report.written, [(one.name, one.change) for one in report.differences]) == (False, [("echo", "missing")])
    pruned = sync_folder(where, CONTRACT, prune=True)
    assert (pruned.changes, pruned.differences) == ((Change("tools", "echo", "removed"),), ())
    assert document(where)["provides"]["tools"] == []


@pytest.mark.parametrize(
    ("tools", "change"),
    [
        ('Tool("echo", self.echo), Tool("echo", self.echo)', "duplicate"),
        ('Tool("echo", self.echo, read_only_hint=False)', "changed"),
    ],
)
def test_what_syncing_cannot_mend_is_a_difference(tmp_path: Path, tools: str, change: str) -> None:
    where = package(tmp_path, code=CODE.replace('Tool("echo", self.echo)', tools))
    report = sync_folder(where, CONTRACT)
    assert (report.changes, [one.change for one in report.differences]) == ((), [change])
    assert report.refuses


def test_an_incomplete_entry_is_completed(tmp_path: Path) -> None:
    entry = {key: value for key, value in ECHO.items() if key not in ("inputSchema", "posture")}
    code = CODE.replace('Tool("echo", self.echo)', f'Tool("echo", self.echo, {SCHEMA!r}, None, True)')
    where = package(tmp_path, code=code, provides={"tools": [entry]})
    assert check_target(where, CONTRACT).refuses
    assert not sync_folder(where, CONTRACT).refuses
    assert document(where)["provides"]["tools"] == [{**entry, "posture": "read", "inputSchema": SCHEMA}]


def test_the_rest_of_the_file_stays_byte_for_byte(tmp_path: Path) -> None:
    where = package(tmp_path, code=TWO, texts=TEXTS, permissions=WRITING)
    odd = json.dumps(document(where), indent="\t", sort_keys=True).replace('"Anna"', '   "A\\u006ena"')
    odd = odd.replace("\n", "\r\n") + "\r\n\r\n"
    (where / "manifest.json").write_bytes(odd.encode())
    assert sync_folder(where, CONTRACT).written
    after = (where / "manifest.json").read_bytes().decode()
    at = odd.index("\r\n\t\t]\r\n\t},\r\n")  # the end of the list of tools
    assert after.startswith(odd[:at])
    assert after.endswith(odd[at:])
    assert after[at : len(after) - len(odd) + at].startswith(',\r\n\t\t\t{\r\n\t\t\t\t"name": "go",\r\n')


def test_the_page_s_typed_tool_is_synced_into_the_page_s_manifest(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "plugins.md").read_text("utf-8")
    (manifest, *_), codes_shown = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("json", "python"))
    (code,) = [one for one in codes_shown if "@tool" in one]
    texts = "why-project = Why\npermission-read = Read\ntool-search-notes = Search\n"
    where = package(tmp_path, name="yaz_plugin_notes", code=code, texts=texts)
    (where / "manifest.json").write_text(manifest)
    report = sync_folder(where, YAZ)
    assert report.changes == (Change("tools", "search-notes", "updated", ("inputSchema", "outputSchema")),)
    assert not report.refuses
    report = check_target(where, YAZ)
    assert (report.violations, report.differences) == ((), ())


# -- what has to be mended first --------------------------------------------------------------------------------------


def test_a_manifest_that_is_no_json_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    where = package(tmp_path, code=f"open({str(ran)!r}, 'w').close()\n{TWO}")
    (where / "manifest.json").write_text('{"id": "demo",}')
    report = sync_folder(where, CONTRACT)
    assert (codes(report), report.asked, report.written) == (["json-syntax"], False, False)
    assert not ran.exists()
    assert (where / "manifest.json").read_text() == '{"id": "demo",}'


@pytest.mark.parametrize(
    ("wrong", "code"),
    [({"licence": "MIT"}, "manifest-unknown-key"), ({"module": "os.path:Plugin"}, "module-elsewhere")],
)
def test_what_is_wrong_outside_of_entries_is_refused_and_nothing_runs(
    tmp_path: Path, wrong: dict[str, Any], code: str
) -> None:
    ran = tmp_path / "ran"
    where = package(tmp_path, code=f"open({str(ran)!r}, 'w').close()\n{TWO}", **wrong)
    report = sync_folder(where, CONTRACT)
    assert (codes(report), report.asked) == ([code], False)
    assert not ran.exists()


def test_what_reading_only_warns_of_is_no_obstacle(tmp_path: Path) -> None:
    where = package(tmp_path, code=TWO, permissions=WRITING, texts=f"{TEXTS}unused = {3}\n")
    (where / "locales" / "de.ftl").write_text("")
    assert sync_folder(where, CONTRACT).asked


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("raise ValueError('no luck')", "plugin-failed"),
        (
            CODE.replace("def provide_tools(self):", "def provide_tools(self):\n        raise ValueError"),
            "plugin-failed",
        ),
        (CODE.replace("def provide_tools", "async def provide_tools"), "hook-async"),
        (CODE.replace("def provide_tools(self)", "def provide_tools(self, more)"), "hook-parameters"),
        (CODE.replace('[Tool("echo", self.echo)]', "3"), "hook-return"),
    ],
)
def test_a_plugin_that_cannot_be_asked_leaves_its_manifest_alone(tmp_path: Path, code: str, expected: str) -> None:
    where = package(tmp_path, code=code)
    before = (where / "manifest.json").read_bytes()
    report = sync_folder(where, CONTRACT)
    assert (codes(report), report.asked, report.refuses) == ([expected], False, True)
    assert ("Traceback" in report.trace) is (expected == "plugin-failed")
    assert (where / "manifest.json").read_bytes() == before


def test_a_registration_that_fits_no_manifest_leaves_it_alone(tmp_path: Path) -> None:
    where = package(tmp_path, code=TWO.replace(repr(SCHEMA), "{'default': object}"))
    before = (where / "manifest.json").read_bytes()
    with pytest.raises(YazError) as caught:
        sync_folder(where, CONTRACT)
    assert caught.value.code == "sync-not-json"
    assert (where / "manifest.json").read_bytes() == before


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(YazError) as caught:
        sync_folder(tmp_path / "nothing", CONTRACT)
    assert caught.value.code == "target-unknown"
    with pytest.raises(YazError) as caught:
        sync_folder(tmp_path, CONTRACT)
    assert caught.value.code == "target-without-manifest"


# -- the plugin, and the file -----------------------------------------------------------------------------------------


def test_onload_is_not_run_and_the_modules_are_as_before(tmp_path: Path) -> None:
    code = TWO + "\n    @hookimpl\n    def onload(self):\n        raise ValueError('loaded')\n"
    sync_folder(package(tmp_path / "warm"), CONTRACT)
    path, modules = list(sys.path), set(sys.modules)
    assert sync_folder(package(tmp_path / "cold", code=code), CONTRACT).written
    assert sys.path == path
    assert set(sys.modules) == modules


def test_a_folder_is_synced_by_its_own_code_though_another_of_that_name_is_installed(tmp_path: Path) -> None:
    where = package(tmp_path / "here", code=TWO)
    with installed(tmp_path / "there"):
        assert sync_folder(where, CONTRACT).written


def test_a_shipped_plugin_may_have_its_reserved_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    echo = {**ECHO, "permission": "typst:read"}
    where = package(
        tmp_path, plugin_id="typst", name="shipped_to_be_synced", code=TWO, provides={"tools": [echo]},
        permissions=[{"action": f"typst:{word}", "descriptionKey": "text"} for word in ("read", "write")], texts=TEXTS,
    )  # fmt: skip
    assert codes(sync_folder(where, CONTRACT)) == ["id-reserved"]
    monkeypatch.syspath_prepend(str(tmp_path))
    report = sync_folder(where, CONTRACT, shipped=[where])
    assert (report.written, report.violations) == (True, ())


@pytest.mark.parametrize("shipped", SHIPPED, ids=lambda path: path.name)
def test_what_yaz_ships_is_in_sync(shipped: Path) -> None:
    report = sync_folder(shipped, YAZ, shipped=SHIPPED, write=False)
    assert (report.asked, report.changes, report.refuses) == (True, (), False)


def test_the_file_keeps_who_may_read_it_and_a_link_stays_a_link(tmp_path: Path) -> None:
    where = package(tmp_path / "here", code=TWO)
    kept = tmp_path / "kept.json"
    (where / "manifest.json").rename(kept)
    (where / "manifest.json").symlink_to(kept)
    kept.chmod(0o640)
    assert sync_folder(where, CONTRACT).written
    assert (where / "manifest.json").is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir() if path.name != "here"] == ["kept.json"]


def test_a_file_that_changes_while_the_plugin_runs_is_left_alone(tmp_path: Path) -> None:
    where = package(tmp_path, code=TWO)
    file = where / "manifest.json"
    (where / "plugin.py").write_text(f"with open({str(file)!r}, 'a') as file:\n    file.write(' ')\n{TWO}")
    before = file.read_text()
    with pytest.raises(YazError) as caught:
        sync_folder(where, CONTRACT)
    assert (caught.value.code, caught.value.message) == (
        "sync-changed", "manifest.json was changed meanwhile; nothing was written",
    )  # fmt: skip
    assert file.read_text() == before + " "
    assert [name for name in os.listdir(where) if name.startswith(".")] == []


def test_the_report_is_plain_data(tmp_path: Path) -> None:
    report = sync_folder(package(tmp_path, code=TWO), CONTRACT)
    shown = json.loads(json.dumps(report.as_json()))
    assert list(shown) == ["asked", "written", "changes", "diff", "violations", "differences"]
    assert (shown["asked"], shown["written"], shown["changes"][0]["name"]) == (True, True, "go")


def test_warnings_alone_refuse_nothing() -> None:
    warning = Violation("a-code", "it could be better", severity="warning")
    assert not SyncReport(violations=(warning,)).refuses
