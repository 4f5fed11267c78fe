from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yazcore.home import Home, Watched
from yazcore.violations import YazError

on_posix = pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_nothing_is_made_before_the_first_write(home: Home) -> None:
    home.path("a", "b")
    assert home.read_json("grants.json") is None
    assert home.settings() == {}
    assert not home.folder.exists()


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YAZ_HOME", str(tmp_path / "elsewhere"))
    assert Home().folder == tmp_path / "elsewhere"


def test_without_the_environment_the_platform_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("YAZ_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = Home().folder
    assert folder.is_relative_to(tmp_path)
    assert folder.name == "yaz"


def test_a_relative_folder_stays_where_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = Home(Path("here"))
    monkeypatch.chdir("/")
    assert home.folder == tmp_path / "here"


@pytest.mark.parametrize("parts", [("..",), ("a", "..", "..", "b"), ("/etc/passwd",)])
def test_a_path_never_leads_out_of_the_folder(home: Home, parts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not below YAZ_HOME"):
        home.path(*parts)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@settings(max_examples=30)
@given(value=PLAIN)
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    home = Home(tmp_path_factory.getbasetemp() / "written")
    home.write_json("value.json", value)
    assert home.read_json("value.json") == value


def test_half_a_surrogate_pair_is_kept(home: Home) -> None:
    home.write_json("value.json", {"a": "\ud800"})
    assert home.read_json("value.json") == {"a": "\ud800"}


def test_a_written_file_is_for_people_to_read(home: Home) -> None:
    home.write_json("grants.json", {"b": 1, "a": "ü"})
    assert home.path("grants.json").read_text("utf-8") == '{\n  "a": "ü",\n  "b": 1\n}\n'


@on_posix
def test_files_and_folders_are_the_users_alone(home: Home) -> None:
    before = os.umask(0)
    try:
        home.write_json("deep/er/run.json", {})
    finally:
        os.umask(before)
    assert [mode(home.path(*parts)) for parts in ((), ("deep",), ("deep", "er"))] == [0o700] * 3
    assert mode(home.path("deep", "er", "run.json")) == 0o600


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(home: Home) -> None:
    home.write_json("grants.json", {"a": 1})
    with pytest.raises(TypeError):
        home.write_json("grants.json", {"a": object()})
    assert home.read_json("grants.json") == {"a": 1}
    assert [path.name for path in home.folder.iterdir()] == ["grants.json"]


def test_a_file_that_cannot_be_replaced_is_said_and_nothing_is_left_of_the_new_one(home: Home) -> None:
    home.path("grants.json", "inside").mkdir(parents=True)
    with pytest.raises(YazError) as raised:
        home.write_json("grants.json", 1)
    assert raised.value.code == "home-not-writable"
    assert str(home.folder) not in f"{raised.value.message} {raised.value.fix}"
    assert [path.name for path in home.folder.iterdir()] == ["grants.json"]


def test_what_json_does_not_know_is_not_written(home: Home) -> None:
    with pytest.raises(ValueError, match="JSON"):
        home.write_json("a.json", float("nan"))


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    home.write_json("other.json", 1)
    home.path("grants.json").symlink_to(outside)
    home.write_json("grants.json", 2)
    assert (outside.read_text(), home.read_json("grants.json")) == ("mine", 2)


@pytest.mark.parametrize(
    ("data", "where"),
    [(b'{\n "a": \n}', " (line 3, column 1)"), (b"[" * 100_000, ""), (b"9" * 10_000, "")],
)
def test_a_broken_file_is_named_without_its_folder(home: Home, data: bytes, where: str) -> None:
    home.folder.mkdir()
    home.path("grants.json").write_bytes(data)
    with pytest.raises(YazError) as caught:
        home.read_json("grants.json")
    assert caught.value.as_json() == {
        "code": "home-file-broken",
        "message": f"grants.json in YAZ_HOME is not valid JSON{where}",
        "fix": "restore it from a copy, or remove it and decide again",
    }


def test_a_file_that_is_no_text_is_broken(home: Home) -> None:
    home.folder.mkdir()
    home.path("grants.json").write_bytes(b"\xff")
    with pytest.raises(YazError, match=r"^grants\.json in YAZ_HOME is not UTF-8 text$"):
        home.read_json("grants.json")


def test_a_folder_in_the_place_of_a_file_cannot_be_read(home: Home) -> None:
    home.path("grants.json").mkdir(parents=True)
    with pytest.raises(YazError) as caught:
        home.read_json("grants.json")
    assert caught.value.code == "home-file-unreadable"
    assert str(home.folder) not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(YazError) as caught:
        Home(tmp_path / "file" / "home").write_json("a.json", 1)
    assert caught.value.code == "home-not-writable"


def test_settings_are_toml(home: Home) -> None:
    home.folder.mkdir()
    home.path("settings.toml").write_text('roots = ["~/papers"]\n[plugins.zotero]\nlimit = 5\n')
    assert home.settings() == {"roots": ["~/papers"], "plugins": {"zotero": {"limit": 5}}}


def test_malformed_settings_are_named_with_their_line(home: Home) -> None:
    home.folder.mkdir()
    home.path("settings.toml").write_text("a = 1\nb = \n")
    with pytest.raises(YazError) as caught:
        home.settings()
    assert caught.value.code == "settings-broken"
    assert caught.value.message.startswith("settings.toml is not valid TOML: ")
    assert "line 2" in caught.value.message


@on_posix
def test_a_plugin_has_a_folder_of_its_own(home: Home) -> None:
    folder = home.plugin_data("zotero")
    assert (folder, mode(folder)) == (home.folder / "data" / "zotero", 0o700)
    assert home.plugin_data("zotero") == folder


@pytest.mark.parametrize("wrong", ["", "..", "a/b", "A", "a\n", "-a", "a--b"])
def test_what_is_no_plugin_id_has_no_folder(home: Home, wrong: str) -> None:
    with pytest.raises(ValueError, match="is not a plugin id"):
        home.plugin_data(wrong)


def test_a_lock_that_another_process_holds_is_waited_for_and_then_said(home: Home) -> None:
    holder = "import sys\nfrom yazcore.home import Home\nfrom pathlib import Path\n"
    holder += (
        "with Home(Path(sys.argv[1])).locked('grants.json'):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", holder, str(home.folder)]
    root = str(Path(__file__).parent.parent)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": root}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(YazError) as caught, home.locked("grants.json", timeout=0.05):
            pytest.fail("two processes hold one lock")
        process.communicate()
    assert caught.value.as_json() == {
        "code": "home-busy",
        "message": "another process holds grants.json in YAZ_HOME",
        "fix": "wait until it has finished, and try again",
    }
    with home.locked("grants.json", timeout=0.05):
        assert json.dumps(home.read_json("grants.json")) == "null"


def test_a_lock_is_free_again_after_an_exception(home: Home) -> None:
    with pytest.raises(KeyError), home.locked("a"):
        raise KeyError
    with home.locked("a", timeout=0):
        pass


def test_a_watched_file_is_read_again_when_it_has_changed_and_only_then(home: Home) -> None:
    read: list[Any] = []

    def reader(document: Any) -> Any:
        read.append(document)
        return document

    watched = Watched(home, "x.json", reader)
    assert watched.now() is None
    home.write_json("x.json", {"a": 1})
    assert watched.now() == watched.now() == {"a": 1}
    home.write_json("x.json", {"a": 2})
    assert watched.now() == {"a": 2}
    home.path("x.json").unlink()
    assert watched.now() is None
    assert read == [None, {"a": 1}, {"a": 2}, None]


def test_a_watched_file_that_cannot_be_read_is_read_again_the_next_time(home: Home) -> None:
    watched = Watched(home, "x.json", lambda document: document)
    home.write_json("x.json", 1)
    assert watched.now() == 1
    home.write_text("x.json", "{")
    for _ in range(2):
        with pytest.raises(YazError, match="not valid JSON"):
            watched.now()
    home.write_json("x.json", 2)
    assert watched.now() == 2
