from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

from tests.manifest.archived import (
    ENGLISH,
    GERMAN,
    REQUIRES,
    named_keys,
    package_files,
    pyproject,
    sdist,
    sdist_files,
    wheel,
)
from tests.manifest.installed import distribution, editable
from tests.manifest.samples import CONTRACT, GOOD, good
from yazcore.manifest.digests import digests
from yazcore.manifest.discovery import discover
from yazcore.manifest.targets import Origin, Target, open_target
from yazcore.trees import remove_tree
from yazcore.violations import Violation, YazError


def opened(target: str | Path, *path: Path, extra: tuple[Path, ...] = ()) -> Target:
    """The target, where nothing is installed but what lies on the path that is given."""
    return open_target(target, CONTRACT, extra=extra, path=[str(one) for one in path])


def refused(target: str | Path) -> tuple[str, str, str]:
    with pytest.raises(YazError) as caught:
        opened(target)
    return caught.value.code, str(caught.value), caught.value.fix


def codes(target: Target) -> list[str]:
    return [violation.code for violation in target.violations]


def only(target: Target) -> tuple[str, str, str]:
    assert len(target.violations) == 1, target.violations
    (one,) = target.violations
    return one.code, one.message, one.fix


def written(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(data if isinstance(data, str) else data.decode())
    return folder


# -- a wheel ----------------------------------------------------------------------------------------------------------


def test_a_wheel_is_known_without_being_installed(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    target = opened(path)
    assert target.violations == ()
    manifest = target.reading.manifest
    assert manifest is not None
    assert target == Target(
        kind="wheel",
        name=str(path),
        id="zotero",
        distribution="yaz-plugin-zotero",
        version="0.1.0",
        reading=target.reading,
        package="yaz_plugin_zotero",
        files=(
            "yaz_plugin_zotero-0.1.0.dist-info/METADATA",
            "yaz_plugin_zotero-0.1.0.dist-info/RECORD",
            "yaz_plugin_zotero-0.1.0.dist-info/WHEEL",
            "yaz_plugin_zotero-0.1.0.dist-info/entry_points.txt",
            "yaz_plugin_zotero/__init__.py",
            "yaz_plugin_zotero/locales/de.ftl",
            "yaz_plugin_zotero/locales/en-US.ftl",
            "yaz_plugin_zotero/manifest.json",
            "yaz_plugin_zotero/plugin.py",
        ),
        requires=REQUIRES,
        texts={"de": GERMAN, "en-US": ENGLISH},
        origin=Origin(),
        digests=digests(manifest, {"de": GERMAN, "en-US": ENGLISH}),
    )
    assert set(ENGLISH) == named_keys(manifest)
    assert len(target.digests) == 5


def test_what_is_shown_to_programs_is_the_manifest_as_it_was_written(tmp_path: Path) -> None:
    document = good()
    document["licence"] = "MIT"
    target = opened(wheel(tmp_path, manifest=document))
    assert target.as_json() == {
        "manifest": document,
        "violations": [violation.as_json() for violation in target.violations],
        "requires": list(REQUIRES),
        "files": list(target.files),
    }
    assert codes(target) == ["manifest-unknown-key"]
    assert (target.digests, target.id) == ({}, "zotero")
    assert target.texts["en-US"]["tool-cite"] == "Cites one item."


def test_a_manifest_that_is_no_json_is_a_violation(tmp_path: Path) -> None:
    target = opened(wheel(tmp_path, more={"yaz_plugin_zotero/manifest.json": "{"}))
    assert (codes(target), target.as_json()["manifest"]) == (["json-syntax"], None)
    large = opened(wheel(tmp_path, more={"yaz_plugin_zotero/manifest.json": " " * (256 * 1024 + 1)}))
    assert codes(large) == ["json-too-large"]


def test_what_no_json_may_hold_is_null_for_programs(tmp_path: Path) -> None:
    text = '{"contract": NaN, "id": [1e999, {"a": 99999999999999999999999}], "name": true, "version": null, "a": 1.5}'
    target = opened(wheel(tmp_path, more={"yaz_plugin_zotero/manifest.json": text}))
    expected = {"contract": None, "id": [None, {"a": None}], "name": True, "version": None, "a": 1.5}
    assert target.as_json()["manifest"] == expected
    assert json.loads(json.dumps(target.as_json()))["manifest"] == expected


def test_texts_are_checked_as_those_of_an_installed_plugin(tmp_path: Path) -> None:
    target = opened(
        wheel(
            tmp_path,
            more={
                "yaz_plugin_zotero/locales/en-US.ftl": "why-project = A\n",
                "yaz_plugin_zotero/locales/fr.ftl": "x" * (256 * 1024 + 1),
                "yaz_plugin_zotero/locales/more/it.ftl": "no message",
                "yaz_plugin_zotero/locales.ftl": "no message",
                "yaz_plugin_zotero/locales/it": "no message",
                "yaz_plugin_zotero/locales/notes.txt": "no message",
            },
        )
    )
    assert set(codes(target)) == {"message-missing", "messages-too-large"}
    assert target.texts == {"de": GERMAN, "en-US": {"why-project": "A"}}


def test_schemas_are_checked(tmp_path: Path) -> None:
    document = good()
    document["provides"]["tools"][0]["inputSchema"]["properties"]["query"] = {"type": "sting"}
    target = opened(wheel(tmp_path, manifest=document))
    assert [one.pointer.rpartition("/")[2] for one in target.violations] == ["type"]


def test_a_manifest_is_held_against_its_distribution(tmp_path: Path) -> None:
    document = {**GOOD, "id": "other", "version": "9.9", "module": "os.path:join"}
    target = opened(wheel(tmp_path, manifest=document, version="0.2.0"))
    assert codes(target)[:3] == ["id-differs", "version-differs", "module-elsewhere"]
    assert (target.id, target.version) == ("zotero", "0.2.0")


@pytest.mark.parametrize("name", ["__init__.py", "locales/en-US.ftl"])
def test_nothing_of_a_wheel_is_left_behind(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    before = set(sys.modules)
    opened(wheel(tmp_path))
    assert list(private.iterdir()) == list(work.iterdir()) == []
    assert not {one for one in set(sys.modules) - before if one.startswith("yaz_plugin_")}


# -- what is wrong with a wheel ---------------------------------------------------------------------------------------


def test_a_wheel_without_an_entry_point_is_never_found(tmp_path: Path) -> None:
    assert only(opened(wheel(tmp_path, entry_points=""))) == (
        "entry-point-missing",
        "nobody will find the plugin: it publishes no entry point",
        'add [project.entry-points."yaz.manifest"] to pyproject.toml, with ID = "yaz_plugin_zotero:manifest.json"',
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[yaz.manifest]\n", "entry-point-count"),
        ("[yaz.manifest]\na = yaz_plugin_zotero:manifest.json\nb = x:manifest.json\n", "entry-point-count"),
        ("[yaz.manifest]\nZotero = yaz_plugin_zotero:manifest.json\n", "entry-point-id"),
        ("[yaz.manifest]\nzotero = yaz_plugin_zotero\n", "entry-point-value"),
        ("[yaz.manifest\n", "entry-points-broken"),
        ("zotero = yaz_plugin_zotero:manifest.json\n", "entry-points-broken"),
        ("[x]\n" + "a" * (256 * 1024), "entry-points-broken"),
    ],
)
def test_entry_points_of_a_wheel_have_the_codes_of_discovery(tmp_path: Path, text: str, code: str) -> None:
    assert codes(opened(wheel(tmp_path, entry_points=text))) == [code]


def test_entry_points_that_are_no_text(tmp_path: Path) -> None:
    assert only(opened(wheel(tmp_path, entry_points=b"[yaz.manifest]\n\xff"))) == (
        "entry-points-broken", "entry_points.txt is not UTF-8", "its author has to build it again",
    )  # fmt: skip


def test_nobody_can_take_anothers_id(tmp_path: Path) -> None:
    assert only(opened(wheel(tmp_path, name="acme-zotero"))) == (
        "distribution-name",
        'acme-zotero publishes the plugin "zotero"',
        "a plugin with that id comes from yaz-plugin-zotero only",
    )


def test_an_entry_point_names_the_package_with_the_manifest(tmp_path: Path) -> None:
    assert only(opened(wheel(tmp_path, entry_points="[yaz.manifest]\nzotero = other:manifest.json\n"))) == (
        "manifest-missing",
        'the package "other" holds no manifest.json',
        'its author has to name the package "yaz_plugin_zotero" in the entry point',
    )


def test_entry_points_that_others_load_are_refused(tmp_path: Path) -> None:
    text = "[yaz.manifest]\nzotero = yaz_plugin_zotero:manifest.json\n[pydantic]\nx = a:b\n[pytest11]\nx = a:b\n"
    assert only(opened(wheel(tmp_path, entry_points=text))) == (
        "distribution-foreign-group",
        'it also publishes entry points in "pydantic", "pytest11", which others load',
        "its author has to publish in yaz.manifest alone",
    )


@pytest.mark.parametrize("file", ["zz.pth", "yaz_plugin_zotero-0.1.0.data/purelib/zz.pth", "x.data/platlib/zz.pth"])
def test_a_file_that_python_runs_when_it_starts_is_refused(tmp_path: Path, file: str) -> None:
    assert only(opened(wheel(tmp_path, more={file: "import os"}))) == (
        "distribution-startup-file",
        f'it would install "{file}", which Python runs whenever it starts',
        "its author has to leave that file out",
    )


@pytest.mark.parametrize(
    "file",
    [
        "sitecustomize.py", "yazcore/__init__.py", "yaz_plugin_zotero.py", "yaz_plugin_zotero-0.1.0.data/scripts/yaz",
        "x.data/purelib/yaz_plugin_zotero/manifest.json", "other/x.pth",
    ],
)  # fmt: skip
def test_a_file_outside_its_package_is_refused(tmp_path: Path, file: str) -> None:
    assert only(opened(wheel(tmp_path, more={file: ""}))) == (
        "distribution-stray-file",
        f'it would install "{file}", outside its package "yaz_plugin_zotero"',
        "its author has to keep every file inside the package",
    )


SCRIPT = "[yaz.manifest]\nzotero = yaz_plugin_zotero:manifest.json\n[console_scripts]\n{} = yaz_plugin_zotero.x:main\n"


def test_a_command_of_its_own_is_allowed_and_the_hosts_is_not(tmp_path: Path) -> None:
    assert opened(wheel(tmp_path, entry_points=SCRIPT.format("zotero-cite"))).violations == ()
    assert only(opened(wheel(tmp_path, entry_points=SCRIPT.format("yaz")))) == (
        "distribution-script-taken",
        'its command "yaz" would replace the one of yaz',
        "its author has to give the command another name",
    )


def test_a_command_of_something_installed_is_not_replaced(tmp_path: Path) -> None:
    site = tmp_path / "site"
    distribution(site, name="black", package="black", entry_points="[console_scripts]\nblack = black:main\n")
    distribution(site, name="broken", package="broken", entry_points="console_scripts without an end")
    target = opened(wheel(tmp_path, entry_points=SCRIPT.format("black")), site)
    assert only(target)[:2] == ("distribution-script-taken", 'its command "black" would replace the one of black')


def test_an_older_version_of_itself_is_no_other(tmp_path: Path) -> None:
    distribution(tmp_path / "site", version="0.0.9", entry_points=SCRIPT.format("zotero-cite"))
    assert opened(wheel(tmp_path, entry_points=SCRIPT.format("zotero-cite")), tmp_path / "site").violations == ()


@pytest.mark.parametrize("package", ["yazcore", "json", "attr"])
def test_a_package_of_somebody_else_is_not_overwritten(tmp_path: Path, package: str) -> None:
    distribution(tmp_path / "site", name="attrs", package="attr", entry_points="")
    document = {**GOOD, "module": f"{package}.plugin:Plugin"}
    whole = package_files(manifest=document)
    files = {name.replace("yaz_plugin_zotero", package): data for name, data in whole.items()}
    entry_points = f"[yaz.manifest]\nzotero = {package}:manifest.json\n"
    target = opened(wheel(tmp_path, files=files, entry_points=entry_points), tmp_path / "site")
    owner = {"json": "Python", "attr": "attrs", "yazcore": "yazcore"}[package]
    assert only(target) == (
        "distribution-package-taken",
        f'its package "{package}" is the one of {owner}',
        "its author has to give the package a name of its own",
    )


def test_a_folder_that_is_no_package_is_said(tmp_path: Path) -> None:
    assert only(opened(wheel(tmp_path, without=["yaz_plugin_zotero/__init__.py"]))) == (
        "package-form",
        '"yaz_plugin_zotero" has no __init__.py',
        "its author has to ship one package with an __init__.py",
    )


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("yaz_plugin_zotero/__init__.py,,\n", "its RECORD and its files differ in"),
        ('"' + "x" * 200_000 + '",,\n', "RECORD is no list of files"),
        (random.Random(1).randbytes(2**21 + 1).hex(), "RECORD is larger than 4194304 bytes"),
    ],
)
def test_a_record_that_lists_something_else_is_said(tmp_path: Path, record: str, message: str) -> None:
    target = opened(wheel(tmp_path, record=record))
    assert codes(target) in (["distribution-record-differs"], ["distribution-record-broken"])
    assert target.violations[0].message.startswith(message)


def test_a_wheel_without_a_record_is_said(tmp_path: Path) -> None:
    target = opened(wheel(tmp_path, without=["yaz_plugin_zotero-0.1.0.dist-info/RECORD"]))
    assert only(target) == (
        "distribution-record-missing", "it has no RECORD of its files", "its author has to build it again",
    )  # fmt: skip


def test_a_wheel_cannot_say_where_it_came_from(tmp_path: Path) -> None:
    forged = json.dumps({"url": "https://index.example/x", "archive_info": {}})
    target = opened(wheel(tmp_path, more={"yaz_plugin_zotero-0.1.0.dist-info/direct_url.json": forged}))
    assert only(target) == (
        "distribution-forged-origin",
        "it brings a direct_url.json, in which an installer records where it came from",
        "its author has to leave that file out",
    )


@pytest.mark.parametrize(
    ("file_name", "message"),
    [
        ("zotero.whl", 'its file is called "zotero.whl", which says no name and version'),
        (
            "other-0.1.0-py3-none-any.whl",
            'its file is called "other-0.1.0-py3-none-any.whl", and its metadata say "yaz-plugin-zotero 0.1.0"',
        ),
    ],
)
def test_a_wheel_is_called_as_its_metadata_say(tmp_path: Path, file_name: str, message: str) -> None:
    assert only(opened(wheel(tmp_path, file_name=file_name))) == (
        "distribution-metadata", message, "give it its name back, or get it again",
    )  # fmt: skip


def test_metadata_agree_with_the_folder_they_lie_in(tmp_path: Path) -> None:
    path = wheel(tmp_path, metadata="Name: Yaz.Plugin_Zotero\nVersion: 0.1\n", manifest={**GOOD, "version": "0.1.0.0"})
    assert opened(path).violations == ()
    path = wheel(tmp_path, metadata="Name: other\nVersion: 0.1.0\n", file_name="other-0.1.0-py3-none-any.whl")
    assert codes(opened(path)) == ["distribution-metadata", "distribution-name"]
    path = wheel(tmp_path, metadata="Summary: nothing\n")
    assert codes(opened(path)) == ["distribution-metadata"]


# -- an sdist ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("below", ["", "src/"])
def test_an_sdist_is_known_without_being_built(tmp_path: Path, below: str) -> None:
    path = sdist(tmp_path, sdist_files(below=below))
    target = opened(path)
    assert target.violations == ()
    assert attrs.evolve(target, reading=None, digests={}) == Target(  # type: ignore[arg-type]
        kind="sdist",
        name=str(path),
        id="zotero",
        distribution="yaz-plugin-zotero",
        version="0.1.0",
        reading=None,  # type: ignore[arg-type]
        package="yaz_plugin_zotero",
        files=tuple(sorted(name.partition("/")[2] for name in sdist_files(below=below))),
        requires=("attrs>=25.1",),
        texts={"de": GERMAN, "en-US": ENGLISH},
    )
    assert len(target.digests) == 5
    assert "setup.py" in target.files


def changed(**files: str) -> dict[str, str | bytes]:
    """The files of an sdist after a change; names without the top folder, with `__` for a dot."""
    whole = sdist_files()
    for name, data in files.items():
        whole[f"yaz_plugin_zotero-0.1.0/{name.replace('__', '.')}"] = data
    return whole


def test_what_an_sdist_will_publish_is_what_its_project_says(tmp_path: Path) -> None:
    more = '\n[project.entry-points.pytest11]\nx = "a:b"\n\n[project.scripts]\nyaz = "a:b"\n'
    target = opened(sdist(tmp_path, changed(pyproject__toml=pyproject(more=more))))
    assert codes(target) == ["distribution-foreign-group", "distribution-script-taken"]


@pytest.mark.parametrize(
    "text",
    [
        "", "[tool.poetry]\nname = 'x'\n", "not toml", "[project]\nname='x'\ndynamic=['entry-points']\n",
        "project = 1", "x" * 300_000, "a = " + "[" * 5000,
    ],
)  # fmt: skip
def test_what_only_a_build_knows_is_not_held_against_an_sdist(tmp_path: Path, text: str) -> None:
    target = opened(sdist(tmp_path, changed(pyproject__toml=text)))
    assert (target.violations, target.id, target.requires) == ((), "zotero", ("attrs>=25.1",))


def test_an_sdist_whose_project_publishes_nothing(tmp_path: Path) -> None:
    target = opened(sdist(tmp_path, changed(pyproject__toml="[project]\nname = 'yaz-plugin-zotero'\n")))
    assert codes(target) == ["entry-point-missing"]


def test_an_sdist_is_called_as_its_metadata_say(tmp_path: Path) -> None:
    assert codes(opened(sdist(tmp_path, file_name="zotero.tar.gz"))) == ["distribution-metadata"]
    assert codes(opened(sdist(tmp_path, file_name="zotero-0.1.0.tar.gz"))) == ["distribution-metadata"]


def test_requirements_of_an_old_sdist_are_those_of_its_project(tmp_path: Path) -> None:
    target = opened(sdist(tmp_path, changed(**{"PKG-INFO": "Name: yaz-plugin-zotero\nVersion: 0.1.0\n\n"})))
    assert target.requires == ("attrs>=25.1",)


# -- what is no target ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["missing.whl", "missing.tar.gz", "./missing", "a/b", "", "a\0/b", "/" + "n" * 5000])
def test_a_path_where_nothing_is(name: str) -> None:
    assert refused(name) == (
        "target-unknown", f"there is no file or folder {name!r}",
        "give a wheel, an sdist, a folder, or the name of an installed plugin",
    )  # fmt: skip
    assert refused(Path("missing"))[0] == "target-unknown"


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    path = wheel(tmp_path).rename(tmp_path / "plugins.zip")
    assert refused(path)[0] == "target-kind"


def test_what_is_wrong_with_an_archive_is_raised(tmp_path: Path) -> None:
    assert refused(wheel(tmp_path, more={"../evil": ""}))[0] == "archive-member-path"
    (tmp_path / "x-1.tar.gz").write_bytes(b"nothing")
    assert refused(tmp_path / "x-1.tar.gz")[0] == "archive-broken"


@pytest.mark.parametrize("where", ["yaz_plugin_zotero/sub/", "yaz-plugin-zotero/", ""])
def test_a_wheel_without_a_manifest(tmp_path: Path, where: str) -> None:
    path = wheel(tmp_path, files={f"{where}manifest.json": "{}"})
    assert refused(path) == (
        "target-without-manifest",
        f"{path.name!r} holds no manifest.json, and neither does a package in it",
        "give what holds a plugin's package",
    )


def test_several_manifests(tmp_path: Path) -> None:
    more = {"b_other/__init__.py": "", "b_other/manifest.json": "{}"}
    path = wheel(tmp_path, more=more)
    assert refused(path) == (
        "target-ambiguous", f'{path.name!r} holds several plugins: "b_other", "yaz_plugin_zotero"',
        "give the one that is meant",
    )  # fmt: skip
    top = "yaz_plugin_zotero-0.1.0/src/"
    assert refused(sdist(tmp_path, {**sdist_files(), **{top + name: data for name, data in more.items()}}))[0] == (
        "target-ambiguous"
    )
    assert refused(written(tmp_path / "folder", {**package_files(), **more}))[0] == "target-ambiguous"


def test_a_folder_beside_the_package_may_hold_a_file_of_that_name(tmp_path: Path) -> None:
    files = changed(**{"tests/manifest.json": "{}"})
    assert opened(sdist(tmp_path, files)).violations == ()


def test_a_wheel_without_metadata(tmp_path: Path) -> None:
    info = "yaz_plugin_zotero-0.1.0.dist-info"
    for path in (
        wheel(tmp_path, without=[f"{info}/METADATA"]),
        wheel(tmp_path, more={"other-1.dist-info/METADATA": ""}),
    ):
        assert refused(path) == (
            "target-without-metadata", f"{path.name!r} is no wheel: it holds no METADATA in one .dist-info folder",
            "give a wheel as a build writes it",
        )  # fmt: skip


def test_an_sdist_without_metadata(tmp_path: Path) -> None:
    for files in (
        {name: data for name, data in sdist_files().items() if not name.endswith("PKG-INFO")},
        {**sdist_files(), "other/PKG-INFO": ""},
        {"x-1/sub/PKG-INFO": ""},
    ):
        assert refused(sdist(tmp_path, files, file_name="x-1.tar.gz")) == (
            "target-without-metadata", "'x-1.tar.gz' is no sdist: it holds no PKG-INFO in its one folder",
            "give an sdist as a build writes it, or a wheel",
        )  # fmt: skip


# -- a folder ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("below", ["", "src/"])
@pytest.mark.parametrize("inner", [False, True])
def test_a_project_or_its_package_is_known_without_being_built(tmp_path: Path, below: str, inner: bool) -> None:
    files = {f"{below}{name}": data for name, data in package_files().items()}
    project = written(tmp_path / "work", {**files, "pyproject.toml": pyproject()})
    cache = project / below / "yaz_plugin_zotero" / "__pycache__"
    cache.mkdir()
    (cache / "x.pyc").write_bytes(b"")
    folder = project / below / "yaz_plugin_zotero" if inner else project
    target = opened(str(folder))
    assert target.violations == ()
    assert attrs.evolve(target, reading=None, digests={}) == Target(  # type: ignore[arg-type]
        kind="folder",
        name=str(folder),
        id="zotero",
        distribution="yaz-plugin-zotero",
        version="0.1.0",
        reading=None,  # type: ignore[arg-type]
        package="yaz_plugin_zotero",
        files=tuple(sorted(package_files())),
        requires=("attrs>=25.1",),
        texts={"de": GERMAN, "en-US": ENGLISH},
    )


def test_the_folder_one_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written(tmp_path / "work", {**package_files(), "pyproject.toml": pyproject()}))
    assert opened(".").package == "yaz_plugin_zotero"


def test_a_package_that_nothing_publishes_is_judged_by_itself(tmp_path: Path) -> None:
    target = opened(written(tmp_path, package_files()) / "yaz_plugin_zotero")
    assert (target.violations, target.distribution, target.version, target.id) == ((), None, "0.1.0", "zotero")


def test_a_project_is_held_against_its_manifest(tmp_path: Path) -> None:
    project = written(tmp_path, {**package_files(), "pyproject.toml": pyproject(version="0.2.0")})
    assert only(opened(project)) == (
        "version-differs", 'the manifest says "0.1.0", and yaz-plugin-zotero is "0.2.0"',
        "give both the same version, and install the plugin again",
    )  # fmt: skip
    (project / "pyproject.toml").write_text(pyproject().replace("yaz-plugin-zotero", "zotero"))
    assert codes(opened(project)) == ["distribution-name"]
    (project / "pyproject.toml").write_text(pyproject().replace('zotero = "', 'other = "'))
    assert codes(opened(project)) == ["distribution-name", "id-differs"]


def test_a_version_that_a_build_finds_is_the_manifests(tmp_path: Path) -> None:
    text = pyproject().replace('version = "0.1.0"', 'dynamic = ["version"]')
    target = opened(written(tmp_path, {**package_files(), "pyproject.toml": text}))
    assert (target.violations, target.version) == ((), "0.1.0")


def test_a_folder_without_a_plugin(tmp_path: Path) -> None:
    written(tmp_path, {"a/b/manifest.json": "{}", "docs-of-it/manifest.json": "{}"})
    assert refused(tmp_path) == (
        "target-without-manifest", f"{tmp_path.name!r} holds no manifest.json, and neither does a package in it",
        "give what holds a plugin's package",
    )  # fmt: skip


def test_a_folder_with_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from yazcore.manifest import unpacked

    monkeypatch.setattr(unpacked, "MOST_FILES", 4)
    assert refused(written(tmp_path, package_files()))[:2] == (
        "target-too-many-files", "'yaz_plugin_zotero' holds more than 4 files",
    )  # fmt: skip


def test_a_folder_without_bottom(tmp_path: Path) -> None:
    """Deeper than a walk that recurses can go."""
    written(tmp_path, package_files())
    bottomless = folder = tmp_path / "yaz_plugin_zotero" / "d"
    for _ in range(1200):
        folder.mkdir()
        folder = folder / "d"
    try:
        assert refused(tmp_path) == (
            "target-too-deep", "'yaz_plugin_zotero' holds folders in folders, more than 100 deep",
            "give the package of the plugin alone",
        )  # fmt: skip
    finally:
        remove_tree(bottomless)


# -- what is installed ------------------------------------------------------------------------------------------------


def installed(site: Path, **more: str) -> Path:
    """The plugin, installed as pip does from an index."""
    files = package_files()
    info = distribution(
        site, files=files, metadata="Name: yaz-plugin-zotero\nVersion: 0.1.0\nRequires-Dist: attrs>=25.1\n\nText\n"
    )
    (info / "INSTALLER").write_text(more.get("installer", "pip\n"))
    return info


@pytest.mark.parametrize("name", ["zotero", "yaz-plugin-zotero", "Yaz_Plugin.Zotero"])
def test_an_installed_plugin_by_its_id_or_its_distribution(tmp_path: Path, name: str) -> None:
    installed(tmp_path)
    target = opened(name, tmp_path)
    assert target.violations == ()
    assert attrs.evolve(target, reading=None, digests={}) == Target(  # type: ignore[arg-type]
        kind="installed",
        name=name,
        id="zotero",
        distribution="yaz-plugin-zotero",
        version="0.1.0",
        reading=None,  # type: ignore[arg-type]
        package="yaz_plugin_zotero",
        files=tuple(
            sorted(
                [
                    *package_files(),
                    "yaz_plugin_zotero-0.1.0.dist-info/METADATA",
                    "yaz_plugin_zotero-0.1.0.dist-info/RECORD",
                ]
            )
        ),
        requires=("attrs>=25.1",),
        texts={"de": GERMAN, "en-US": ENGLISH},
        origin=Origin(source="index", installer="pip"),
    )
    assert target.digests == opened(wheel(tmp_path)).digests


def test_folders_that_plugins_were_installed_into_come_after_the_path(tmp_path: Path) -> None:
    own = tmp_path / "plugins" / "zotero"
    installed(own)
    assert refused("zotero") == (
        "target-unknown", "'zotero' is neither a file, nor a folder, nor an installed plugin",
        "give a wheel, an sdist, a folder, or the id of an installed plugin; installed are: none",
    )  # fmt: skip
    assert opened("zotero", extra=(tmp_path / "missing", own)).violations == ()
    distribution(tmp_path / "site", version="0.0.1")
    assert opened("zotero", tmp_path / "site", extra=(own,)).version == "0.0.1"


def test_a_name_that_nobody_has_lists_those_there_are(tmp_path: Path) -> None:
    for plugin_id in ("b", "a"):
        distribution(tmp_path, plugin_id)
    with pytest.raises(YazError) as caught:
        opened("zotero", tmp_path)
    assert caught.value.fix.endswith('installed are: "a", "b"')


def test_a_left_over_without_metadata_says_nothing_of_the_plugin(tmp_path: Path) -> None:
    installed(tmp_path)
    distribution(tmp_path, version="0.0.9", metadata=None, files={})
    target = opened("zotero", tmp_path)
    assert (target.violations, target.version, target.requires) == ((), "0.1.0", ("attrs>=25.1",))


@pytest.mark.parametrize(
    ("record", "code"), [("zz.pth,,", "distribution-startup-file"), ("sitecustomize.py,,", "distribution-stray-file")]
)
def test_what_discovery_skips_is_shown_with_its_reason(tmp_path: Path, record: str, code: str) -> None:
    info = installed(tmp_path)
    with open(info / "RECORD", "a") as file:
        file.write(f"{record}\n")
    target = opened("zotero", tmp_path)
    assert codes(target) == [code]
    assert (target.reading.manifest is not None, target.package) == (True, "yaz_plugin_zotero")
    (skip,) = discover(CONTRACT, [str(tmp_path)])[1]
    assert target.violations == (Violation(skip.code, skip.message, skip.fix),)


def test_all_that_is_wrong_with_a_skipped_one_is_said(tmp_path: Path) -> None:
    text = SCRIPT.format("yaz") + "[pydantic]\nx = a:b\n"
    distribution(tmp_path, entry_points=text, record=["zz.pth,,", "x.py,,"], files=package_files())
    assert codes(opened("zotero", tmp_path)) == [
        "distribution-foreign-group", "distribution-script-taken", "distribution-startup-file",
        "distribution-stray-file",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["[yaz.manifest]\nzotero\n", "[yaz.manifest]\nzotero = gone:manifest.json\n"])
def test_a_skipped_one_without_a_manifest_in_reach(tmp_path: Path, text: str) -> None:
    distribution(tmp_path, entry_points=text, metadata="Name: yaz-plugin-zotero\nVersion: 3\nRequires-Dist: b\n")
    target = opened("zotero", tmp_path)
    assert len(target.violations) == 1
    assert (target.reading.manifest, target.package, target.requires) == (None, None, ("b",))
    assert (target.version, target.distribution) == ("3", "yaz-plugin-zotero")


def test_files_of_the_metadata_that_cannot_be_read_hide_nothing_else(tmp_path: Path) -> None:
    info = installed(tmp_path)
    for name in ("RECORD", "METADATA", "INSTALLER", "direct_url.json"):
        (info / name).write_bytes(b"\xff")
    target = opened("zotero", tmp_path)
    assert codes(target) == ["distribution-metadata"]
    assert (target.files, target.requires, target.origin) == ((), (), Origin())


def test_a_package_that_another_distribution_overwrote(tmp_path: Path) -> None:
    installed(tmp_path)
    distribution(tmp_path, name="other", entry_points="", files={"yaz_plugin_zotero/__init__.py": ""})
    assert only(opened("zotero", tmp_path)) == (
        "distribution-package-taken",
        'its package "yaz_plugin_zotero" is the one of other',
        "uninstall yaz-plugin-zotero, and install again whatever else brings that package",
    )


def test_an_editable_installation_is_looked_at_where_its_source_is(tmp_path: Path) -> None:
    project = written(tmp_path / "work", {**package_files(), "pyproject.toml": pyproject()})
    info = distribution(tmp_path / "site", files={}, record=["_editable_impl_yaz_plugin_zotero.pth,,"])
    (info / "INSTALLER").write_text("pip\n")
    editable(info, project)
    target = opened("zotero", tmp_path / "site", project)
    assert target.violations == ()
    assert target.origin == Origin(source="folder", url=project.as_uri(), installer="pip", editable=True)
    assert target.texts["de"] == GERMAN


def test_a_plugin_in_a_zip_file_on_the_path(tmp_path: Path) -> None:
    target = opened("zotero", wheel(tmp_path))
    assert only(target) == (
        "distribution-in-zip", 'it lies in "yaz_plugin_zotero-0.1.0-py3-none-any.whl", a zip file on the path',
        "install it with pip: a plugin is a folder of files",
    )  # fmt: skip
    assert (target.reading.manifest, target.distribution) == (None, "yaz-plugin-zotero")


def test_a_shipped_plugin_by_its_id_or_its_folder(tmp_path: Path) -> None:
    contract = attrs.evolve(CONTRACT, reserved=frozenset({"zotero"}))
    folder = written(tmp_path, package_files()) / "yaz_plugin_zotero"
    for name in ("zotero", str(folder)):
        target = open_target(name, contract, shipped=(folder,), path=[])
        assert (target.kind, target.violations, target.distribution) == ("installed", (), None)
        assert (target.version, target.files) == ("0.1.0", tuple(sorted(package_files())))
    assert codes(open_target(str(folder), contract)) == ["id-reserved"]


def test_a_folder_of_that_name_comes_before_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path / "site")
    written(tmp_path / "work" / "zotero", package_files())
    monkeypatch.chdir(tmp_path / "work")
    assert opened("zotero", tmp_path / "site").kind == "folder"

