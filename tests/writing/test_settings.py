"""`yaz.toml`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore import YazError
from yazcore.writing.projects.project import Settings, parse_settings, read_settings


def test_without_the_file_there_are_defaults(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()


def test_all_of_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "yaz.toml").write_text(
        'name = "Über alles"\nentry = "src/thesis.typ"\nid = "prj_abcdefgh2345"\nfonts = ["fonts", "more/fonts"]\n'
    )
    assert read_settings(tmp_path) == Settings(
        entry="src/thesis.typ", id="prj_abcdefgh2345", name="Über alles", fonts=("fonts", "more/fonts")
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'entry = "a.typ"\nid = \n', "yaz.toml line 2: Invalid value"),
        (b'\nentry = "main.typ', "yaz.toml line 2: Unterminated string"),
        (b"entry = 3\n", "yaz.toml line 1: entry is not a text"),
        (
            b'\n\nentry = "../x.typ"\n',
            (
                "yaz.toml line 3: entry is not inside the project: the path of the document has a part that is "
                "empty, . or .."
            ),
        ),
        (b'id = "prj_ABC"\n', "yaz.toml line 1: id is not prj_ and twelve characters of a-z2-7"),
        (b'name = " "\n', "yaz.toml line 1: name is not a short text"),
        (b'# x\nentri = "a.typ"\n', "yaz.toml line 2: there is no setting 'entri'"),
        (b"[build]\nx = 1\n", "yaz.toml line 1: there is no setting 'build'"),
        (b'fonts = "fonts"\n', "yaz.toml line 1: fonts is not a list of at most 16 folders"),
        (
            b'fonts = ["/usr/share/fonts"]\n',
            "yaz.toml line 1: fonts is not inside the project: the path of the document is absolute",
        ),
        (b'name = "x"\nentry = "\xff"\n', "yaz.toml line 2: it is not UTF-8"),
        (b"#" * 70_000, "yaz.toml: it is larger than 65536 bytes"),
        (b'entry = "a.typ"\nentry = "b.typ"\n', "yaz.toml line 2: Cannot overwrite a value"),
    ],
)
def test_a_malformed_one_is_an_error_with_its_line(text: bytes, message: str) -> None:
    with pytest.raises(YazError) as caught:
        parse_settings(text)
    assert (caught.value.code, caught.value.message) == ("project-settings-broken", message)


def test_a_misspelt_setting_is_told_the_right_one() -> None:
    with pytest.raises(YazError) as caught:
        parse_settings(b'entri = "a.typ"\n')
    assert caught.value.fix == "did you mean entry?"


def test_a_link_is_no_settings_file(tmp_path: Path) -> None:
    (tmp_path / "yaz.toml").symlink_to("/etc/hostname")
    with pytest.raises(YazError, match="it is not a file"):
        read_settings(tmp_path)


def test_a_folder_is_no_settings_file(tmp_path: Path) -> None:
    (tmp_path / "yaz.toml").mkdir()
    with pytest.raises(YazError, match="it is not a file"):
        read_settings(tmp_path)


@given(st.binary(max_size=200))
def test_any_bytes_give_settings_or_an_error_with_a_code(data: bytes) -> None:
    assert _code(data) in ("", "project-settings-broken")


def _code(data: bytes) -> str:
    try:
        parse_settings(data)
    except YazError as error:
        return error.code
    return ""
