from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import yazcore
from yazcore.cli.authors import new
from yazcore.manifest.reading import read
from yazcore.violations import YazError
from yazcore.writing.contract import YAZ


def run(command: click.Command, *arguments: str, typed: str = "") -> Result:
    """Run a command; what it raises for `main` to print is raised here."""
    result = CliRunner().invoke(command, arguments, input=typed, standalone_mode=True, catch_exceptions=True)
    if isinstance(result.exception, YazError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


# -- new --------------------------------------------------------------------------------------------------------------

GOOD = ("--id", "word-count", "--name", "Word count", "--author", "Anna", "--description", "Counts words.")


def test_new_makes_a_project_and_says_what_comes_next(tmp_path: Path) -> None:
    result = run(new, *GOOD, "--output", str(tmp_path))
    folder = tmp_path / "yaz-plugin-word-count"
    assert result.stdout.splitlines() == [
        f"made {folder}",
        "",
        "next:",
        f"  cd {folder}",
        "  pip install -e '.[test]'",
        "  pytest",
        "  yaz check .",
        "  yaz grant word-count",
    ]
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()) == [
        ".gitignore",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "tests/test_plugin.py",
        "yaz_plugin_word_count/__init__.py",
        "yaz_plugin_word_count/locales/de.ftl",
        "yaz_plugin_word_count/locales/en-US.ftl",
        "yaz_plugin_word_count/manifest.json",
        "yaz_plugin_word_count/plugin.py",
        "yaz_plugin_word_count/review.toml",
    ]


def test_new_leaves_nothing_in_the_users_home(tmp_path: Path) -> None:
    # in a process of its own, because cookiecutter looks for the home folder once, when it is imported
    home = tmp_path / "home"
    home.mkdir()
    code = "from yazcore.cli.authors import new; new()"
    subprocess.run(
        [sys.executable, "-c", code, *GOOD, "--output", str(tmp_path)],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(Path(yazcore.__file__).parent.parent)},
        capture_output=True, check=True,
    )  # fmt: skip
    assert (tmp_path / "yaz-plugin-word-count").is_dir()
    assert list(home.iterdir()) == []


def test_new_asks_for_what_no_option_says_and_again_after_a_bad_answer(tmp_path: Path) -> None:
    typed = "Word Count\nyaz\nword-count\n\nAnna\nCounts words.\n"
    result = run(new, "--output", str(tmp_path), typed=typed)
    assert '[id-invalid] "Word Count" is not a plugin id.' in result.stdout
    assert '[id-reserved] the id "yaz" belongs to yaz. choose another id' in result.stdout
    manifest = json.loads((tmp_path / "yaz-plugin-word-count/yaz_plugin_word_count/manifest.json").read_text())
    assert (manifest["id"], manifest["name"], manifest["author"], manifest["description"]) == (
        "word-count", "Word count", "Anna", "Counts words.",
    )  # fmt: skip


def test_new_with_yes_takes_name_and_description_from_the_id(tmp_path: Path) -> None:
    run(new, "--id", "word-count", "--author", "Anna", "--yes", "--output", str(tmp_path))
    manifest = json.loads((tmp_path / "yaz-plugin-word-count/yaz_plugin_word_count/manifest.json").read_text())
    assert (manifest["name"], manifest["description"]) == ("Word count", "Word count for yaz.")


def test_new_with_yes_says_which_answer_is_missing(tmp_path: Path) -> None:
    result = run(new, "--id", "word-count", "--yes", "--output", str(tmp_path))
    assert result.exit_code == 2
    assert "--yes asks nothing, so --author is needed" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("bad_id", "code"),
    [
        ("Word-Count", "id-invalid"),
        ("a" * 25, "id-invalid"),
        ("yaz", "id-reserved"),
        ("typst", "id-reserved"),
        ("help", "id-reserved"),
        ("word-count\n", "id-invalid"),
        ("../x", "id-invalid"),
        ("", "id-invalid"),
        ("word--count", "id-invalid"),
        ("1word", "id-invalid"),
        ("wört", "id-invalid"),
        ("{{7*7}}", "id-invalid"),
    ],
)
def test_an_id_that_reading_would_refuse_is_refused_before_anything_is_written(
    tmp_path: Path, bad_id: str, code: str
) -> None:
    with pytest.raises(YazError) as caught:
        run(new, "--id", bad_id, *GOOD[2:], "--output", str(tmp_path))
    assert caught.value.code == code
    assert caught.value.fix
    assert list(tmp_path.iterdir()) == []


def test_the_longest_id_is_fine(tmp_path: Path) -> None:
    run(new, "--id", "a" * 24, *GOOD[2:], "--output", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["yaz-plugin-" + "a" * 24]


@pytest.mark.parametrize(
    ("option", "text", "code"),
    [
        ("--name", "", "text-empty"),
        ("--name", "x" * 101, "text-too-long"),
        ("--author", "Anna\x1b[2J", "text-unprintable"),
        ("--author", "An\u202ena", "text-unprintable"),
        ("--description", "two\nlines", "text-unprintable"),
        ("--description", "{{ cookiecutter }}", "text-template"),
        ("--name", "{% raw %}", "text-template"),
    ],
)
def test_a_text_that_would_break_a_file_is_refused_before_anything_is_written(
    tmp_path: Path, option: str, text: str, code: str
) -> None:
    with pytest.raises(YazError) as caught:
        run(new, *GOOD, option, text, "--output", str(tmp_path))
    assert caught.value.code == code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ['say "words"', "back\\slash \\n", "O'Brien & Söhne <a@b>", "字 😀 {x}", "a # b"])
def test_quotes_and_other_scripts_arrive_whole_in_every_file(tmp_path: Path, text: str) -> None:
    answers = ("--id", "word-count", "--name", text, "--author", text, "--description", text)
    run(new, *answers, "--output", str(tmp_path))
    folder = tmp_path / "yaz-plugin-word-count"
    reading = read((folder / "yaz_plugin_word_count" / "manifest.json").read_bytes(), YAZ)
    assert reading.violations == ()
    assert reading.manifest is not None
    assert (reading.manifest.name, reading.manifest.author, reading.manifest.description) == (text, text, text)
    published = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert (published["authors"], published["description"]) == ([{"name": text}], text)
    assert f"# {text}\n" in (folder / "README.md").read_text("utf-8")
    assert text in (folder / "LICENSE").read_text("utf-8")


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_what_is_there_already_is_left_alone(tmp_path: Path, kind: str) -> None:
    there = tmp_path / "yaz-plugin-word-count"
    if kind == "folder":
        there.mkdir()
    elif kind == "file":
        there.write_text("mine")
    else:
        there.symlink_to(tmp_path / "nowhere")
    with pytest.raises(YazError) as caught:
        run(new, *GOOD, "--output", str(tmp_path))
    assert caught.value.code == "folder-exists"
    assert caught.value.message == "yaz-plugin-word-count is there already"
    assert [path.name for path in tmp_path.iterdir()] == ["yaz-plugin-word-count"]


def test_without_cookiecutter_new_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cookiecutter.main", None)
    with pytest.raises(YazError) as caught:
        run(new, *GOOD, "--output", str(tmp_path))
    assert caught.value.as_json() == {
        "code": "cookiecutter-missing",
        "message": "yaz new needs cookiecutter, which is not installed",
        "fix": "pip install 'yazcore[template]'",
    }
