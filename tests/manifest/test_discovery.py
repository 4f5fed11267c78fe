from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.manifest.archived import wheel
from tests.manifest.installed import distribution, editable
from tests.manifest.samples import CONTRACT
from yazcore.manifest.discovery import Found, Skipped, builtin, discover
from yazcore.manifest.reading import read_found


def look(*places: Path) -> tuple[tuple[Found, ...], tuple[Skipped, ...]]:
    return discover(CONTRACT, [str(place) for place in places])


def skipped(*places: Path) -> Skipped:
    """The one distribution that is skipped, where nothing is found."""
    found, others = look(*places)
    assert found == ()
    assert len(others) == 1, others
    return others[0]


def said(skip: Skipped) -> tuple[str, str, str]:
    return skip.code, skip.message, skip.fix


def test_an_installed_plugin_is_found_without_importing_it(tmp_path: Path) -> None:
    distribution(tmp_path)
    before = {name: module for name, module in sys.modules.items() if name.startswith("yaz_plugin_")}
    found, others = look(tmp_path)
    assert others == ()
    assert found == (
        Found(
            id="zotero",
            distribution="yaz-plugin-zotero",
            version="0.1.0",
            folder=tmp_path / "yaz_plugin_zotero",
            manifest=tmp_path / "yaz_plugin_zotero" / "manifest.json",
            origin="installed",
        ),
    )
    assert {name: module for name, module in sys.modules.items() if name.startswith("yaz_plugin_")} == before
    assert read_found(found[0], CONTRACT).violations == ()


def test_plugins_come_by_id_and_others_are_none(tmp_path: Path) -> None:
    for plugin_id in ("b", "a"):
        distribution(tmp_path, plugin_id)
    distribution(tmp_path, name="requests", package="requests", entry_points="[x]\na = b:c\n")
    distribution(tmp_path, name="click", package="click", entry_points="")
    assert [one.id for one in look(tmp_path)[0]] == ["a", "b"]


def test_another_hosts_plugins_are_found_by_its_own_contract(tmp_path: Path) -> None:
    distribution(tmp_path)
    distribution(
        tmp_path, name="console-x", package="console_x", entry_points="[console.m]\nx = console_x:manifest.json\n"
    )
    console = attrs.evolve(CONTRACT, group="console.m", prefix="console-", host="console")
    found, others = discover(console, [str(tmp_path)])
    assert ([one.id for one in found], others) == (["x"], ())


def test_what_is_broken_elsewhere_hides_nobody(tmp_path: Path) -> None:
    distribution(tmp_path)
    distribution(tmp_path, name="broken", package="broken", entry_points="no section = x\nno equals")
    (distribution(tmp_path, name="binary", package="binary") / "entry_points.txt").write_bytes(b"\xff\xfe")
    assert [one.id for one in look(tmp_path)[0]] == ["zotero"]


@pytest.mark.parametrize("text", ["[yaz.manifest]\nzotero\n", "zotero = x\n[yaz.manifest]\nzotero = a:manifest.json\n"])
def test_broken_entry_points_of_a_plugin_are_said(tmp_path: Path, text: str) -> None:
    distribution(tmp_path, entry_points=text)
    skip = skipped(tmp_path)
    assert (skip.distribution, skip.code) == ("yaz-plugin-zotero", "entry-points-broken")
    assert skip.fix == "install it again, or tell its author"


def test_entry_points_of_a_plugin_that_are_no_text_are_said(tmp_path: Path) -> None:
    (distribution(tmp_path) / "entry_points.txt").write_bytes(b"[yaz.manifest]\n\xff")
    assert skipped(tmp_path).message == "entry_points.txt is not UTF-8"


def test_one_distribution_one_manifest(tmp_path: Path) -> None:
    two = "[yaz.manifest]\nzotero = yaz_plugin_zotero:manifest.json\nother = yaz_plugin_zotero:manifest.json\n"
    distribution(tmp_path, entry_points=two)
    assert said(skipped(tmp_path)) == (
        "entry-point-count",
        "it publishes 2 manifests in the group yaz.manifest",
        "one distribution holds one plugin: its author has to publish exactly one",
    )


def test_an_empty_group_publishes_none(tmp_path: Path) -> None:
    distribution(tmp_path, entry_points="[yaz.manifest]\n")
    assert skipped(tmp_path).code == "entry-point-count"


def test_an_entry_point_is_called_as_the_plugin(tmp_path: Path) -> None:
    distribution(tmp_path, entry_points="[yaz.manifest]\nZotero = yaz_plugin_zotero:manifest.json\n")
    assert skipped(tmp_path).code == "entry-point-id"


@pytest.mark.parametrize("name", ["zotero", "yaz-plugin-other", "yaz-plugin-zotero2", "acme-yaz-plugin-zotero"])
def test_nobody_can_take_anothers_id(tmp_path: Path, name: str) -> None:
    distribution(tmp_path, name=name)
    assert said(skipped(tmp_path)) == (
        "distribution-name",
        f'{name} publishes the plugin "zotero"',
        "a plugin with that id comes from yaz-plugin-zotero only",
    )


@pytest.mark.parametrize("name", ["Yaz_Plugin.Zotero", "yaz--plugin__zotero"])
def test_names_are_compared_normalized(tmp_path: Path, name: str) -> None:
    distribution(tmp_path, info="Yaz.Plugin_Zotero-0.1.0.dist-info", metadata=f"Name: {name}\nVersion: 0.1.0\n\n")
    assert [one.distribution for one in look(tmp_path)[0]] == ["yaz-plugin-zotero"]


@pytest.mark.parametrize(
    "value",
    [
        "yaz_plugin_zotero", "yaz_plugin_zotero:plugin.json", "yaz_plugin_zotero.sub:manifest.json",
        "yaz_plugin_zotero:../manifest.json", "yaz_plugin_zotero:manifest.json [extra]", "../x:manifest.json",
        ":manifest.json",
    ],
)  # fmt: skip
def test_an_entry_points_value_is_a_top_level_package_and_the_file(tmp_path: Path, value: str) -> None:
    distribution(tmp_path, entry_points=f"[yaz.manifest]\nzotero = {value}\n")
    skip = skipped(tmp_path)
    assert (skip.code, skip.fix) == (
        "entry-point-value", "its author has to write PACKAGE:manifest.json, with a top-level package",
    )  # fmt: skip


@pytest.mark.parametrize("metadata", [None, "Name: yaz-plugin-other\nVersion: 0.1.0\n\n"])
def test_metadata_that_are_missing_or_anothers(tmp_path: Path, metadata: str | None) -> None:
    distribution(tmp_path, metadata=metadata)
    assert skipped(tmp_path).code == "distribution-metadata"


def test_a_manifest_that_is_not_there(tmp_path: Path) -> None:
    distribution(tmp_path, record=["yaz_plugin_zotero/manifest.json,,"])
    (tmp_path / "yaz_plugin_zotero" / "manifest.json").unlink()
    assert said(skipped(tmp_path)) == (
        "manifest-missing",
        'the package "yaz_plugin_zotero" holds no manifest.json',
        "its author has to ship the file in the wheel",
    )


# -- where the package is --------------------------------------------------------------------------------------------


def test_a_package_that_is_not_there(tmp_path: Path) -> None:
    distribution(tmp_path, files={})
    assert skipped(tmp_path).code == "package-missing"


def test_a_namespace_package_belongs_to_nobody(tmp_path: Path) -> None:
    distribution(tmp_path, files={"yaz_plugin_zotero/manifest.json": "{}"})
    assert said(skipped(tmp_path)) == (
        "package-form",
        '"yaz_plugin_zotero" has no __init__.py',
        "its author has to ship one package with an __init__.py",
    )


def test_a_single_module_is_no_package(tmp_path: Path) -> None:
    distribution(tmp_path, files={"yaz_plugin_zotero.py": ""})
    assert skipped(tmp_path).message == '"yaz_plugin_zotero" is a single module'


def test_the_package_that_python_would_import_is_the_distributions_own(tmp_path: Path) -> None:
    distribution(tmp_path / "b")
    (tmp_path / "a" / "yaz_plugin_zotero").mkdir(parents=True)
    (tmp_path / "a" / "yaz_plugin_zotero" / "__init__.py").write_text("")
    (tmp_path / "a" / "yaz_plugin_zotero" / "manifest.json").write_text("{}")
    assert said(skipped(tmp_path / "a", tmp_path / "b")) == (
        "package-elsewhere",
        'the package "yaz_plugin_zotero" on the path is not the one of yaz-plugin-zotero',
        "uninstall whatever else brings a package of that name",
    )


def test_nobody_can_point_at_anothers_package(tmp_path: Path) -> None:
    distribution(tmp_path)
    thief = "[yaz.manifest]\nevil = yaz_plugin_zotero:manifest.json\n"
    distribution(tmp_path, "evil", entry_points=thief, files={"yaz_plugin_evil/__init__.py": ""})
    found, others = look(tmp_path)
    assert [one.id for one in found] == ["zotero"]
    assert [one.code for one in others] == ["distribution-stray-file"]


def test_a_package_must_be_in_the_record_of_whoever_points_at_it(tmp_path: Path) -> None:
    distribution(tmp_path)
    thief = "[yaz.manifest]\nevil = yaz_plugin_zotero:manifest.json\n"
    distribution(tmp_path, "evil", entry_points=thief, files={})
    assert [one.code for one in look(tmp_path)[1]] == ["manifest-not-owned"]


def test_a_folder_without_init_hides_no_package(tmp_path: Path) -> None:
    distribution(tmp_path / "b")
    (tmp_path / "a" / "yaz_plugin_zotero").mkdir(parents=True)
    found, others = look(tmp_path / "a", tmp_path / "b")
    assert ([one.folder for one in found], others) == ([tmp_path / "b" / "yaz_plugin_zotero"], ())


@pytest.mark.parametrize("package", ["yazcore", "json", "requests"])
def test_a_package_that_is_somebody_elses_has_been_overwritten(tmp_path: Path, package: str) -> None:
    distribution(tmp_path, name="requests", package="requests", entry_points="", files={})
    distribution(tmp_path, package=package)
    assert said(skipped(tmp_path)) == (
        "distribution-package-taken",
        f'its package "{package}" is the one of {"Python" if package == "json" else package}',
        "uninstall yaz-plugin-zotero, and install again whatever else brings that package",
    )


def test_a_plugin_in_a_zip_file_on_the_path_is_said(tmp_path: Path) -> None:
    path = wheel(tmp_path).rename(tmp_path / "library.zip")
    assert skipped(path) == Skipped(
        distribution="yaz-plugin-zotero",
        code="distribution-in-zip",
        message='it lies in "library.zip", a zip file on the path',
        fix="install it with pip: a plugin is a folder of files",
    )


def test_other_files_on_the_path_hold_no_plugin(tmp_path: Path) -> None:
    other = wheel(tmp_path, name="requests", entry_points="[x]\ny = z\n", files={"requests.py": ""})
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    hostile = wheel(tmp_path, files={"../evil": ""})
    distribution(tmp_path / "site")
    found, others = look(other, tmp_path / "broken.zip", hostile, tmp_path / "site")
    assert ([one.id for one in found], others) == (["zotero"], ())


# -- twice, left over, shadowed --------------------------------------------------------------------------------------


def test_two_metadata_folders_of_one_name_are_ambiguous(tmp_path: Path) -> None:
    distribution(tmp_path, version="0.1.0")
    distribution(tmp_path, version="0.2.0")
    assert said(skipped(tmp_path)) == (
        "distribution-twice",
        'yaz-plugin-zotero is there twice: "yaz_plugin_zotero-0.1.0.dist-info", "yaz_plugin_zotero-0.2.0.dist-info"',
        "uninstall it until it is gone, and install it again",
    )


def test_two_left_overs_without_metadata_are_ambiguous_too(tmp_path: Path) -> None:
    for version in ("0.1.0", "0.2.0"):
        distribution(tmp_path, version=version, metadata=None)
    assert skipped(tmp_path).code == "distribution-twice"


@pytest.mark.parametrize("version", ["0.0.9", "9.9"])
def test_a_left_over_without_metadata_hides_nothing(tmp_path: Path, version: str) -> None:
    distribution(tmp_path)
    distribution(tmp_path, version=version, metadata=None, files={})
    found, others = look(tmp_path)
    assert ([one.version for one in found], others) == (["0.1.0"], ())


def test_the_first_on_the_path_counts_and_the_other_is_said(tmp_path: Path) -> None:
    distribution(tmp_path / "a", version="0.1.0")
    distribution(tmp_path / "b", version="0.2.0")
    found, others = look(tmp_path / "a", tmp_path / "b")
    assert [one.version for one in found] == ["0.1.0"]
    assert [said(one) for one in others] == [
        (
            "distribution-shadowed",
            "another yaz-plugin-zotero comes before it on the path",
            "uninstall the one that is not meant",
        )
    ]


def test_the_same_folder_twice_on_the_path_is_one(tmp_path: Path) -> None:
    distribution(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    found, others = look(tmp_path, tmp_path, tmp_path / "link")
    assert (len(found), others) == (1, ())


# -- pip is not consent ----------------------------------------------------------------------------------------------


def test_a_file_that_python_runs_when_it_starts_is_refused(tmp_path: Path) -> None:
    distribution(tmp_path, record=["zz_evil.pth,,"])
    assert said(skipped(tmp_path)) == (
        "distribution-startup-file",
        'it installed "zz_evil.pth", which Python runs whenever it starts',
        "uninstall yaz-plugin-zotero",
    )


@pytest.mark.parametrize(
    "file",
    [
        "sitecustomize.py", "yazcore/__init__.py", "../../../share/x", "/etc/passwd", "yaz_plugin_zotero/../os.py",
        "yaz_plugin_zotero_more/x.py", "yaz_plugin_zotero.py", "../../../bin/tool", "__pycache__/x.pyc", "bin/tool",
        "yaz_plugin_zotero-0.1.0.data/x",
    ],
)  # fmt: skip
def test_a_file_outside_its_package_is_refused(tmp_path: Path, file: str) -> None:
    distribution(tmp_path, record=[f"{file},,"])
    assert said(skipped(tmp_path)) == (
        "distribution-stray-file",
        f'it installed "{file}", outside its package "yaz_plugin_zotero"',
        "uninstall yaz-plugin-zotero, and install again whatever else owned that file",
    )


def test_files_in_its_package_may_have_any_name(tmp_path: Path) -> None:
    distribution(tmp_path, record=["yaz_plugin_zotero/locales/en-US.ftl,,", "yaz_plugin_zotero/x.pth,,"])
    assert len(look(tmp_path)[0]) == 1


def test_without_a_record_nothing_can_be_said_for_it(tmp_path: Path) -> None:
    distribution(tmp_path, record=None)
    assert skipped(tmp_path).code == "distribution-record-missing"


def test_a_record_that_is_no_text(tmp_path: Path) -> None:
    (distribution(tmp_path) / "RECORD").write_bytes(b"\xff")
    assert said(skipped(tmp_path)) == ("distribution-record-broken", "RECORD is not UTF-8", "install it again")


def test_a_record_that_is_no_list_of_files_hides_nobody_else(tmp_path: Path) -> None:
    distribution(tmp_path, "other")
    (distribution(tmp_path) / "RECORD").write_text('"' + "x" * 200_000 + '",,\n')
    found, (skip,) = look(tmp_path)
    assert [one.id for one in found] == ["other"]
    assert said(skip) == ("distribution-record-broken", "RECORD is no list of files", "install it again")


def test_several_strange_files_are_named_together(tmp_path: Path) -> None:
    distribution(tmp_path, record=["a.pth,,", "b.pth,,"])
    assert skipped(tmp_path).message == 'it installed "a.pth", "b.pth", which Python runs whenever it starts'


@pytest.mark.parametrize("group", ["pydantic", "keyring.backends", "pytest11", "pygments.lexers"])
def test_entry_points_that_others_load_are_refused(tmp_path: Path, group: str) -> None:
    text = f"[yaz.manifest]\nzotero = yaz_plugin_zotero:manifest.json\n[{group}]\nx = yaz_plugin_zotero:x\n"
    distribution(tmp_path, entry_points=text)
    assert said(skipped(tmp_path)) == (
        "distribution-foreign-group",
        f'it also publishes entry points in "{group}", which others load',
        "its author has to publish in yaz.manifest alone",
    )


WITH_SCRIPT = (
    "[yaz.manifest]\nzotero = yaz_plugin_zotero:manifest.json\n[console_scripts]\n{} = yaz_plugin_zotero.cli:main\n"
)


def test_a_command_of_its_own_is_allowed(tmp_path: Path) -> None:
    record = ["../../../bin/zotero-cite,,", "..\\..\\Scripts\\zotero-cite.exe,,", "bin/zotero-cite,,"]
    distribution(tmp_path, entry_points=WITH_SCRIPT.format("zotero-cite"), record=record)
    assert look(tmp_path)[1] == ()


def test_a_command_of_another_distribution_is_refused(tmp_path: Path) -> None:
    distribution(
        tmp_path, name="yazcore", package="yazcore", entry_points="[console_scripts]\nyaz = yazcore.cli:main\n"
    )
    distribution(tmp_path, entry_points=WITH_SCRIPT.format("yaz"), record=["../../../bin/yaz,,"])
    assert said(skipped(tmp_path)) == (
        "distribution-script-taken",
        'its command "yaz" has replaced the one of yazcore',
        "uninstall yaz-plugin-zotero, and install yazcore again",
    )


def test_the_hosts_name_is_no_command_of_a_plugin_even_where_the_host_is_not_installed(tmp_path: Path) -> None:
    distribution(tmp_path, entry_points=WITH_SCRIPT.format("yaz"))
    assert skipped(tmp_path).code == "distribution-script-taken"


# -- editable --------------------------------------------------------------------------------------------------------


def project(folder: Path) -> Path:
    """A project folder with the plugin's package below `src`."""
    package = folder / "src" / "yaz_plugin_zotero"
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text("")
    (package / "__init__.py").write_text("")
    (package / "manifest.json").write_text("{}")
    return folder


def test_an_editable_installation_is_found_in_its_project(tmp_path: Path) -> None:
    source = project(tmp_path / "work")
    folder = distribution(tmp_path / "site", files={}, record=["_yaz_plugin_zotero.pth,,"])
    editable(folder, source)
    (found,), others = look(tmp_path / "site", source / "src")
    assert others == ()
    assert (found.editable, found.folder) == (True, source / "src" / "yaz_plugin_zotero")


def test_an_editable_installation_with_a_finder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = project(tmp_path / "work")
    init = source / "src" / "yaz_plugin_zotero" / "__init__.py"

    class Finder:
        def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
            if name == "yaz_plugin_zotero":
                loader = SourceFileLoader(name, str(init))
                return spec_from_file_location(name, init, loader=loader, submodule_search_locations=[str(init.parent)])
            return None

    class Broken:
        def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
            raise RuntimeError("somebody else's finder")

    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path, Finder()])
    editable(distribution(tmp_path / "site", files={}), source)
    (found,), _ = look(tmp_path / "site")
    assert (found.editable, found.folder) == (True, init.parent)


def test_an_editable_installation_whose_package_is_elsewhere(tmp_path: Path) -> None:
    source = project(tmp_path / "work")
    editable(distribution(tmp_path / "site"), source)
    assert skipped(tmp_path / "site").code == "package-elsewhere"


def test_a_wheel_that_calls_itself_editable_is_judged_by_its_files(tmp_path: Path) -> None:
    hidden = project(tmp_path / "site" / "hidden")
    folder = distribution(
        tmp_path / "site", files={}, record=["zz.pth,,", "hidden/src/yaz_plugin_zotero/__init__.py,,"]
    )
    editable(folder, hidden)
    assert skipped(tmp_path / "site", hidden / "src").code == "package-elsewhere"


def test_an_egg_info_in_a_checkout_is_an_editable_installation(tmp_path: Path) -> None:
    source = project(tmp_path / "work")
    egg = source / "src" / "yaz_plugin_zotero.egg-info"
    egg.mkdir()
    (egg / "PKG-INFO").write_text("Name: yaz-plugin-zotero\nVersion: 0.3.0\n\n")
    (egg / "entry_points.txt").write_text("[yaz.manifest]\nzotero = yaz_plugin_zotero:manifest.json\n")
    (found,), others = look(source / "src")
    assert (found.editable, found.version, others) == (True, "0.3.0", ())


def test_a_checkout_on_the_path_beside_its_editable_installation_is_one_plugin(tmp_path: Path) -> None:
    test_an_egg_info_in_a_checkout_is_an_editable_installation(tmp_path)
    source = tmp_path / "work"
    editable(distribution(tmp_path / "site", files={}), source)
    for path in ((source / "src", tmp_path / "site"), (tmp_path / "site", source / "src")):
        found, others = look(*path)
        assert ([one.id for one in found], others) == (["zotero"], ())


# -- shipped ---------------------------------------------------------------------------------------------------------


def test_a_shipped_plugin_is_a_folder_with_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"id": "typst", "version": "1.2"}))
    assert builtin(tmp_path) == Found(
        id="typst",
        distribution=None,
        version="1.2",
        folder=tmp_path,
        manifest=tmp_path / "manifest.json",
        origin="builtin",
    )


@pytest.mark.parametrize("text", [None, "", "[]", '{"id": 5, "version": []}', "[" * 100_000])
def test_a_shipped_plugin_with_a_broken_manifest_has_its_folders_name(tmp_path: Path, text: str | None) -> None:
    folder = tmp_path / "typst"
    folder.mkdir()
    if text is not None:
        (folder / "manifest.json").write_text(text)
    found = builtin(folder, origin="own")
    assert (found.id, found.version, found.origin) == ("typst", "", "own")


# -- cost ------------------------------------------------------------------------------------------------------------


def test_discovery_loads_none_of_the_libraries_that_cost_a_listing_its_speed(tmp_path: Path) -> None:
    distribution(tmp_path)
    heavy = "jsonschema fluent filelock asyncio importlib.metadata importlib_metadata rich mcp pydantic keyring csv"
    program = (
        "import sys\n"
        "from yazcore.contract import Contract\n"
        "from yazcore.manifest import discovery, reading, messages, schemas, comparison, checking\n"
        "contract = Contract(number=1, group='yaz.manifest', prefix='yaz-plugin-', host='yaz', version='1.0')\n"
        "found, skipped = discovery.discover(contract, [sys.argv[1]])\n"
        "assert len(found) == 1, skipped\n"
        f"print([name for name in {heavy.split()!r} if name in sys.modules])\n"
    )
    root = str(Path(__file__).parent.parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "[]\n"
