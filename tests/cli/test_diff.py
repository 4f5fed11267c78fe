"""`yaz diff`: what another version of a plugin asks for, adds, removes and changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Shell, install
from tests.manifest.archived import manifest_of, package_files, sdist, wheel
from tests.manifest.samples import good

UNPRINTABLE = {"yaz_plugin_zotero/locales/de.ftl": "tool-search = Sucht\u202e\n"}


@pytest.fixture
def old(tmp_path: Path) -> str:
    return str(wheel(tmp_path / "old"))


def newer(folder: Path, **change: Any) -> str:
    return str(wheel(folder / "new", version="0.2.0", manifest={**good(), "version": "0.2.0", **change}))


def test_the_same_is_the_same(yaz: Shell, old: str, tmp_path: Path) -> None:
    new = newer(tmp_path)
    done = yaz.here("diff", old, new)
    assert (done.status, done.out, done.err) == (
        0, "Zotero (zotero) 0.1.0 → 0.2.0\n\nNothing changes. It needs no new yes.\n", "",
    )  # fmt: skip
    done = yaz.here("diff", old, new, "--json")
    assert (done.status, done.json) == (0, {"verdict": "same", "changes": []})


def test_an_update_that_asks_for_more_exits_1_and_says_why(yaz: Shell, old: str, tmp_path: Path) -> None:
    capabilities = [*good()["capabilities"], {"kind": "process", "commands": ["git"]}]
    new = newer(tmp_path, capabilities=capabilities)
    done = yaz.here("diff", old, new)
    assert done.status == 1
    assert "What it asks for\n  ! Asks for more: run git, which can run any program" in done.out
    assert done.out.endswith("\nIt asks for more, or agents reach more through it. It needs your yes.\n")
    document = yaz.here("diff", old, new, "--format", "json").json
    assert document == {
        "verdict": "wider",
        "changes": [
            {"what": "capabilities", "name": "process", "change": "added", "old": None,
             "new": {"kind": "process", "commands": ["git"]}}
        ],
    }  # fmt: skip


def test_an_update_that_asks_for_less_exits_0(yaz: Shell, old: str, tmp_path: Path) -> None:
    done = yaz.here("diff", old, newer(tmp_path, capabilities=[]), "--json")
    assert (done.status, done.json["verdict"]) == (0, "narrower")


def test_a_tool_that_is_only_described_differently_exits_1(yaz: Shell, old: str, tmp_path: Path) -> None:
    new = wheel(tmp_path / "new", manifest=good(), more={"yaz_plugin_zotero/locales/de.ftl": "tool-search = Anders\n"})
    done = yaz.here("diff", old, str(new), "--json")
    assert (done.status, done.json["verdict"]) == (1, "changed")


def test_the_language_is_the_readers(yaz: Shell, old: str, tmp_path: Path) -> None:
    done = yaz.here("diff", old, newer(tmp_path), "--locale", "de-DE")
    assert done.out.endswith("Nichts ändert sich. Es braucht kein neues Ja.\n")


def test_whatever_can_be_previewed_can_be_compared(yaz: Shell, old: str, tmp_path: Path) -> None:
    package = tmp_path / "folder" / "yaz_plugin_zotero"
    for name, text in package_files().items():
        path = package.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    install(yaz.site, "demo")
    for one, other in [
        (old, str(sdist(tmp_path))),
        (str(package), old),
        ("demo", "yaz-plugin-demo"),
        ("typst", "typst"),
    ]:
        done = yaz.here("diff", one, other, "--json")
        found = {(change["what"], change["change"]) for change in done.json["changes"]}
        assert (done.status, found - {("requires", "added"), ("requires", "removed")}) == (0, set())


def test_nothing_of_either_is_imported(yaz: Shell, old: str, tmp_path: Path) -> None:
    """The packages of these wheels raise where they are imported, and the sdist where it is built."""
    assert yaz.run("diff", old, str(sdist(tmp_path))).status == 0


@pytest.mark.parametrize(
    ("other", "code", "message"),
    [
        ("broken", "target-refused", "breaks rules, so nothing compares with it"),
        ("tags", "target-other-plugin", '"zotero" and "tags" are two plugins'),
        ("missing.whl", "target-unknown", "there is no file or folder"),
    ],
)
def test_what_cannot_be_compared_is_said(
    yaz: Shell, old: str, tmp_path: Path, other: str, code: str, message: str
) -> None:
    files = {
        "broken": lambda: wheel(tmp_path / "broken", manifest={**good(), "contract": 99}),
        "tags": lambda: wheel(tmp_path / "tags", plugin_id="tags", manifest=manifest_of("tags")),
        "missing.whl": lambda: tmp_path / "missing.whl",
    }
    path = str(files[other]())
    for sides in ((old, path), (path, old)):
        done = yaz.here("diff", *sides)
        assert (done.status, done.out) == (1, "")
        assert done.err.startswith(f"yaz: [{code}] ")
    assert message in yaz.here("diff", old, path).err


def test_a_second_target_is_asked_for(yaz: Shell, old: str) -> None:
    assert yaz.here("diff", old).status == 2


def test_json_stays_json_whatever_the_plugin_says(yaz: Shell, old: str, tmp_path: Path) -> None:
    done = yaz.here("diff", old, str(wheel(tmp_path / "new", more=UNPRINTABLE)), "--json")
    assert "\u202e" not in done.out
    assert any("\u202e" in json.dumps(change, ensure_ascii=False) for change in done.json["changes"])
