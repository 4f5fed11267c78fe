from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import yazcore
from tests.testing.projects import CODE, project
from yazcore.cli import yaz
from yazcore.violations import YazError

SCHEMA = {"type": "object", "additionalProperties": False}
TWO = CODE.replace('Tool("echo", self.echo)', f'Tool("echo", self.echo), Tool("go", self.echo, {SCHEMA!r})')
TEXTS = "text = A text\ntool-go = Goes\n"
WRITING = [{"action": f"demo:{word}", "descriptionKey": "text"} for word in ("read", "write")]


def run(*arguments: str) -> Result:
    """Run `yaz manifest`; what it raises for `main` to print is raised here."""
    result = CliRunner().invoke(yaz, ("manifest", *arguments))
    if isinstance(result.exception, YazError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def test_sync_says_what_it_wrote(tmp_path: Path) -> None:
    where = project(tmp_path, code=TWO, texts=TEXTS, permissions=WRITING)
    result = run("sync", str(where))
    assert result.stdout == (
        "added tools go: name, descriptionKey, posture, scope, permission, inputSchema\nmanifest.json is written\n"
    )
    assert result.exit_code == 0
    again = run("sync", str(where))
    assert (again.stdout, again.exit_code) == ("manifest.json has all that the code registers\n", 0)


def test_sync_lists_what_is_left_to_the_author_and_exits_1(tmp_path: Path) -> None:
    result = run("sync", str(project(tmp_path, code=TWO)))
    assert result.exit_code == 1
    assert result.stdout == (
        "added tools go: name, descriptionKey, posture, scope, permission, inputSchema\n"
        'error: 43:23 /provides/tools/1/permission [tool-permission-undeclared] the permission "demo:write" is not '
        'declared by this plugin. did you mean "demo:read"?\n'
        "manifest.json is written; the rest is for you to mend\n"
    )


def test_check_shows_the_diff_writes_nothing_and_exits_1(tmp_path: Path) -> None:
    where = project(tmp_path, code=TWO, texts=TEXTS, permissions=WRITING)
    file = where / "yaz_plugin_demo" / "manifest.json"
    before = file.read_text()
    result = run("sync", "--check", str(where))
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[:2] == ["--- manifest.json as it is", "+++ manifest.json as the code has it"]
    assert '+        "name": "go",' in lines
    assert lines[-1] == "manifest.json would change"
    assert file.read_text() == before


def test_check_of_a_synced_manifest_exits_0(tmp_path: Path) -> None:
    result = run("sync", "--check", str(project(tmp_path)))
    assert (result.stdout, result.exit_code) == ("manifest.json has all that the code registers\n", 0)


def test_what_is_not_registered_is_named_and_goes_with_prune(tmp_path: Path) -> None:
    where = project(tmp_path, code=CODE.replace('[Tool("echo", self.echo)]', "[]"))
    result = run("sync", str(where))
    assert result.exit_code == 1
    assert result.stdout == (
        "difference: tools echo [missing] the manifest declares 'echo', which provide_tools did not register; it "
        "registered nothing. register 'echo' in provide_tools, or take it out of provides.tools\n"
        "manifest.json has all that the code registers; the rest is for you to mend\n"
    )
    pruned = run("sync", str(where), "--prune")
    assert (pruned.stdout, pruned.exit_code) == ("removed tools echo\nmanifest.json is written\n", 0)


def test_a_manifest_that_cannot_be_read_is_refused_with_its_violations(tmp_path: Path) -> None:
    where = project(tmp_path)
    (where / "yaz_plugin_demo" / "manifest.json").write_text('{"id": }')
    result = run("sync", str(where))
    assert result.exit_code == 1
    assert result.stdout == (
        "error: 1:8 [json-syntax] this is not JSON: expecting value. mend the syntax here\n"
        "nothing was done: mend this first\n"
    )


def test_an_author_sees_where_the_plugin_raised_and_cannot_be_fooled(tmp_path: Path) -> None:
    result = run("sync", str(project(tmp_path, code="raise ValueError('no luck\\x1b[2J')")))
    assert result.exit_code == 1
    assert "[plugin-failed] demo 1.0: import or constructor raised ValueError: no luck\\u001b[2J" in result.stdout
    assert "plugin.py" in result.stderr
    assert "\x1b" not in result.output


def test_what_the_plugin_prints_is_no_part_of_the_json(tmp_path: Path) -> None:
    where = project(tmp_path, code=f"print('hello')\n{TWO}", texts=TEXTS, permissions=WRITING)
    result = run("sync", str(where), "--check", "--json")
    document = json.loads(result.stdout)
    assert (document["written"], document["changes"][0]["name"], result.exit_code) == (False, "go", 1)
    assert "hello" in result.stderr


def test_the_folder_is_where_one_is_if_it_is_not_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path, code=TWO, texts=TEXTS, permissions=WRITING))
    assert run("sync").exit_code == 0


def test_the_help_says_that_code_runs_and_the_group_knows_its_command() -> None:
    assert "This runs the plugin's code, with all of your own rights." in " ".join(run("sync", "--help").stdout.split())
    listed = run("--help")
    assert "sync  Make a manifest declare what the plugin's code registers." in listed.stdout
    group = yaz.get_command(click.Context(yaz), "manifest")
    assert isinstance(group, click.Group)
    assert list(group.commands) == ["sync"]


@pytest.mark.parametrize("arguments", [[], ["sink"], ["sync", "--nothing"], ["sync", "a", "b"]])
def test_wrong_use_exits_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_folder_that_is_not_there_is_no_traceback(tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(Path(yazcore.__file__).parent.parent)
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", "from yazcore.cli import main; main()", "manifest", "sync", "nothing"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "yaz: [target-unknown] there is no folder 'nothing'. give a plugin's folder\n"
