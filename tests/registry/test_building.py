"""The index of a folder of wheels: everything is read, nothing runs, and what is wrong is left out and named."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.manifest.archived import ENGLISH, GERMAN, ftl, manifest_of, wheel
from tests.manifest.installed import distribution
from tests.manifest.samples import CONTRACT, good
from yazcore.design_rules.plugins import counts_of
from yazcore.manifest.targets import open_target
from yazcore.registry.building import build
from yazcore.registry.document import LeftOut, Registry, written
from yazcore.violations import YazError


def of(folder: Path) -> Registry:
    return build(CONTRACT, folder)


def left_out(found: Registry) -> dict[str, list[str]]:
    return {one.name: [fault.code for fault in one.faults] for one in found.left_out}


def newer(folder: Path, version: str = "0.2.0", **change: Any) -> Path:
    """Another version of the plugin, whose manifest says something else."""
    return wheel(folder, version=version, manifest={**good(), "version": version, **change})


# --- what is said of a plugin


def test_an_empty_folder_gives_an_empty_index(tmp_path: Path) -> None:
    assert of(tmp_path).as_json() == {"format": 1, "host": "yaz", "contract": 1, "plugins": [], "leftOut": []}


def test_a_plugin_is_listed_with_what_its_newest_version_says(tmp_path: Path) -> None:
    wheel(tmp_path)
    newer(tmp_path, "0.10.0", description="Newest.", author="Bea")
    newer(tmp_path, "0.9.0", description="Older.")
    (plugin,) = of(tmp_path).plugins
    assert (plugin.id, plugin.name, plugin.author, plugin.description, plugin.latest) == (
        "zotero", "Zotero", "Bea", "Newest.", "0.10.0",
    )  # fmt: skip
    assert [one.version for one in plugin.versions] == ["0.1.0", "0.9.0", "0.10.0"]


def test_a_version_has_the_preview_the_texts_and_the_digests(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    target = open_target(path, CONTRACT, path=[])
    (version,) = of(tmp_path).as_json()["plugins"][0]["versions"]
    assert {key: version[key] for key in ("manifest", "violations", "requires", "files")} == target.as_json()
    assert version["texts"] == {"de": GERMAN, "en-US": ENGLISH}
    assert version["digests"] == target.digests
    assert len(version["digests"]) == 5
    assert version["distribution"] == "yaz-plugin-zotero"
    assert version["asks"][0] == {
        "kind": "net", "sentence": "send data to api.zotero.org", "sensitive": True, "optional": True,
    }  # fmt: skip
    assert [one["kind"] for one in version["asks"]] == ["net", "fs-project"]


def test_a_wheel_is_named_below_the_folder_with_its_size_and_hash(tmp_path: Path) -> None:
    import hashlib

    path = wheel(tmp_path / "z" / "zotero")
    (version,) = of(tmp_path).plugins[0].versions
    (found,) = version.wheels
    assert (found.name, found.size, found.sha256) == (
        f"z/zotero/{path.name}", path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest(),
    )  # fmt: skip


def test_plugins_are_sorted_by_id(tmp_path: Path) -> None:
    for plugin_id in ("tags", "notes", "zotero"):
        wheel(tmp_path, plugin_id=plugin_id, manifest=manifest_of(plugin_id))
    assert [one.id for one in of(tmp_path).plugins] == ["notes", "tags", "zotero"]


def test_each_version_is_compared_with_the_one_before(tmp_path: Path) -> None:
    wheel(tmp_path)
    newer(tmp_path, "0.2.0", capabilities=[])
    newer(tmp_path, "0.3.0", capabilities=[{"kind": "process", "commands": ["git"]}])
    first, second = of(tmp_path).as_json()["plugins"][0]["diffs"]
    assert (first["old"], first["new"]) == ("0.1.0", "0.2.0")
    assert (first["verdict"], first["needsConsent"]) == ("narrower", False)
    assert [(one["name"], one["change"]) for one in first["changes"]] == [("fs-project", "removed"), ("net", "removed")]
    assert second == {
        "old": "0.2.0", "new": "0.3.0", "verdict": "wider", "needsConsent": True,
        "changes": [
            {"what": "capabilities", "name": "process", "change": "added", "old": None,
             "new": {"kind": "process", "commands": ["git"]}}
        ],
    }  # fmt: skip


def test_warnings_stay_with_their_version(tmp_path: Path) -> None:
    wheel(tmp_path)
    (version,) = of(tmp_path).plugins[0].versions
    assert all(one.severity == "warning" for one in version.violations)


# --- the same wheel twice


def test_two_wheels_that_say_the_same_are_one_version(tmp_path: Path) -> None:
    first = wheel(tmp_path)
    second = wheel(tmp_path, file_name="yaz_plugin_zotero-0.1.0-cp311-cp311-linux_x86_64.whl")
    found = of(tmp_path)
    (version,) = found.plugins[0].versions
    assert [one.name for one in version.wheels] == sorted([first.name, second.name])
    assert found.left_out == ()


def test_two_wheels_that_say_different_things_of_one_version_are_not(tmp_path: Path) -> None:
    wheel(tmp_path / "a")
    wheel(tmp_path / "b", more={"yaz_plugin_zotero/locales/en-US.ftl": ftl({**ENGLISH, "tool-search": "Other."})})
    found = of(tmp_path)
    name = "yaz_plugin_zotero-0.1.0-py3-none-any.whl"
    assert left_out(found) == {f"b/{name}": ["registry-version-twice"]}
    assert found.left_out[0].faults[0].message == f'"a/{name}" is version 0.1.0, too, and says something else'


# --- what is wrong


def test_hostile_wheels_are_named_with_their_codes_and_the_rest_goes_on(tmp_path: Path) -> None:
    wheel(tmp_path)
    (tmp_path / "noise.whl").write_bytes(b"PK\x03\x04 and then nothing")
    with zipfile.ZipFile(tmp_path / "climbs.whl", "w") as archive:
        archive.writestr("../../etc/passwd", "root")
    with zipfile.ZipFile(tmp_path / "bomb.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", b"\0" * 50_000_000)
    with zipfile.ZipFile(tmp_path / "empty.whl", "w"):
        pass
    wheel(tmp_path / "startup", more={"zz.pth": "import os"})
    wheel(tmp_path / "broken", manifest={**good(), "contract": 9, "author": 3})
    wheel(tmp_path / "stranger", plugin_id="yaz", manifest=manifest_of("yaz"))
    os.mkfifo(tmp_path / "pipe.whl")
    (tmp_path / "folder.whl").mkdir()
    (tmp_path / "loop.whl").symlink_to("loop.whl")
    found = of(tmp_path)
    assert [one.id for one in found.plugins] == ["zotero"]
    usual = "yaz_plugin_zotero-0.1.0-py3-none-any.whl"
    assert left_out(found) == {
        "bomb.whl": ["archive-bomb"],
        f"broken/{usual}": ["contract-mismatch", "manifest-wrong-type"],
        "climbs.whl": ["archive-member-path"],
        "empty.whl": ["target-without-metadata"],
        "folder.whl": ["registry-unreadable"],
        "loop.whl": ["registry-unreadable"],
        "noise.whl": ["archive-broken"],
        "pipe.whl": ["target-kind"],
        f"startup/{usual}": ["distribution-startup-file"],
        "stranger/yaz_plugin_yaz-0.1.0-py3-none-any.whl": ["id-reserved"],
    }
    assert all(fault.message and fault.fix for one in found.left_out for fault in one.faults)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(YazError) as raised:
        of(tmp_path / "nothing")
    assert raised.value.code == "registry-folder"


# --- what it never is


def test_nothing_of_a_wheel_runs_and_nothing_is_left_behind(tmp_path: Path) -> None:
    wheel(tmp_path)  # importing it would raise
    loaded = sys.modules.get("yaz_plugin_zotero")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    of(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert sys.modules.get("yaz_plugin_zotero") is loaded


def test_it_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    texts = []
    for place in (tmp_path / "one", tmp_path / "an other" / "place"):
        for version in ("0.2.0", "0.1.0") if texts else ("0.1.0", "0.2.0"):
            newer(place, version)
        (place / "bad.whl").write_bytes(b"x")
        texts.append(written(of(place).as_json()))
    texts = [_without_hashes(text) for text in texts]  # the times in an archive are of the test
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def _without_hashes(text: str) -> str:
    document = json.loads(text)
    for plugin in document["plugins"]:
        for version in plugin["versions"]:
            for one in version["wheels"]:
                one["sha256"] = ""
    return json.dumps(document)


def test_what_is_installed_here_says_nothing_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script of the wheel that belongs to somebody here would refuse it here, and nowhere else."""
    site = tmp_path / "site"
    distribution(site, "tags", entry_points="[console_scripts]\nzot = a:b\n")
    monkeypatch.syspath_prepend(site)
    points = "[yaz.manifest]\nzotero = yaz_plugin_zotero:manifest.json\n[console_scripts]\nzot = yaz_plugin_zotero:x\n"
    path = wheel(tmp_path / "wheels", entry_points=points)
    assert open_target(path, CONTRACT).violations != ()
    assert of(tmp_path / "wheels").left_out == ()


# --- what is installed


def test_what_is_installed_is_listed_beside_the_wheels(tmp_path: Path) -> None:
    site = tmp_path / "site"
    files = {
        "yaz_plugin_zotero/__init__.py": "raise RuntimeError('imported')\n",
        "yaz_plugin_zotero/manifest.json": json.dumps({**good(), "version": "0.2.0"}),
        "yaz_plugin_zotero/locales/en-US.ftl": ftl(ENGLISH),
    }
    distribution(site, version="0.2.0", files=files)
    distribution(site, "broken", files={"yaz_plugin_broken/__init__.py": "", "yaz_plugin_broken/manifest.json": "{"})
    wheel(tmp_path / "wheels")
    found = build(CONTRACT, tmp_path / "wheels", installed=[str(site)])
    (plugin,) = found.plugins
    assert [(one.version, len(one.wheels)) for one in plugin.versions] == [("0.1.0", 1), ("0.2.0", 0)]
    assert left_out(found) == {"yaz-plugin-broken": ["json-syntax"]}
    assert str(tmp_path) not in written(found.as_json())


def test_what_discovery_skips_is_left_out_with_its_code(tmp_path: Path) -> None:
    distribution(tmp_path, name="other-name")
    assert build(CONTRACT, installed=[str(tmp_path)]) == Registry(
        host="yaz", contract=1,
        left_out=(LeftOut(name="other-name", faults=build(CONTRACT, installed=[str(tmp_path)]).left_out[0].faults),),
    )  # fmt: skip
    assert left_out(build(CONTRACT, installed=[str(tmp_path)])) == {"other-name": ["distribution-name"]}


def test_a_version_says_how_many_findings_the_design_rules_have(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    (version,) = of(tmp_path).as_json()["plugins"][0]["versions"]
    counts = counts_of(open_target(path, CONTRACT, path=[]), CONTRACT)
    assert version["findings"] == {"errors": counts.errors, "suspicions": counts.suspicions, "waived": 0}
    assert counts.suspicions > 2
