from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import yazcore
from tests.manifest.archived import REQUIRES, package_files, pyproject, sdist, sdist_files, wheel
from tests.manifest.installed import distribution
from tests.manifest.samples import good
from yazcore.cli.preview import preview, show
from yazcore.manifest.preview import preview as page_of
from yazcore.manifest.targets import open_target
from yazcore.violations import YazError
from yazcore.writing.contract import YAZ

CHECKOUT = Path(yazcore.__file__).parent.parent

PAGE = """\
Zotero 0.1.0 (zotero)
  by Anna, licence MIT
  https://example.org/anna/yaz-plugin-zotero
  wheel yaz_plugin_zotero-0.1.0-py3-none-any.whl, 9 files
  | Searches a Zotero library and cites from it.

What it asks for
  ! send data to api.zotero.org
      sensitive; asked for when it is first needed
      | Looks up what your library lacks.
  - read and write the files of the project you work in, except protected ones such as .git and .env
      | Writes citations into your documents.

Tools for agents: 1 only reads, 1 changes something
  - zotero__search-library
      only reads; for everything; needs the permission zotero:read; no question before a call
      | Finds items by words.
  ! zotero__cite-item
      changes something; in one project; needs the permission zotero:write; no question before a call
      | Cites one item.
"""


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str) -> Result:
    """Run the command; what it raises for `main` to print is raised here."""
    result = CliRunner().invoke(preview, arguments)
    if isinstance(result.exception, YazError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def test_the_page_of_a_wheel(tmp_path: Path) -> None:
    result = run(str(wheel(tmp_path)))
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{PAGE}\nCommands for you\n  - cite\n      | Cite something\n")
    assert result.stdout.endswith("\n\nWhat is wrong with it\n  - Nothing.\n\nyaz would accept it.\n")


def test_the_page_of_a_refused_wheel(tmp_path: Path) -> None:
    result = run(str(wheel(tmp_path, more={"zz.pth": ""})))
    assert result.exit_code == 1
    assert result.stdout.endswith(
        """
What is wrong with it
  x violation: [distribution-startup-file]
      it would install "zz.pth", which Python runs whenever it starts
      its author has to leave that file out

yaz would refuse it: 1 violation.
"""
    )


@pytest.mark.parametrize(
    ("name", "value"), [("LANG", "de_AT.UTF-8"), ("LC_MESSAGES", "de"), ("LC_ALL", "de_DE"), ("--locale", "de-DE")]
)
def test_the_language_is_the_shells_unless_one_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    options = (name, value) if name.startswith("--") else ()
    if not options:
        monkeypatch.setenv(name, value)
    result = run(str(wheel(tmp_path)), *options)
    assert "\nWorum es bittet\n  ! Daten an api.zotero.org senden\n" in result.stdout
    assert result.stdout.endswith("yaz würde es annehmen.\n")


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]])
def test_a_program_gets_what_was_written(tmp_path: Path, option: list[str]) -> None:
    document = good()
    document["licence"] = "MIT\u202e"
    result = run(str(wheel(tmp_path, manifest=document)), *option)
    assert result.exit_code == 1
    shown = json.loads(result.stdout)
    assert list(shown) == ["manifest", "violations", "requires", "files", "findings"]
    assert set(shown["findings"]) == {"errors", "suspicions", "waived"}
    assert shown["manifest"] == document
    assert "\u202e" not in result.stdout
    assert [(one["code"], one["pointer"]) for one in shown["violations"]] == [("manifest-unknown-key", "/licence")]
    assert shown["requires"] == list(REQUIRES)
    assert "yaz_plugin_zotero/manifest.json" in shown["files"]
    good_one = run(str(wheel(tmp_path)), *option)
    assert (good_one.exit_code, json.loads(good_one.stdout)["violations"]) == (0, [])


def test_what_is_no_plugin_is_said_and_not_traced(tmp_path: Path) -> None:
    with pytest.raises(YazError, match=r"'nothing' is neither a file, nor a folder, nor an installed plugin"):
        run("nothing")
    with pytest.raises(YazError, match="leads out of the archive"):
        run(str(wheel(tmp_path, more={"../evil": ""})))


def test_a_shipped_plugin_by_its_id() -> None:
    result = run("typst")
    assert result.exit_code == 0
    assert result.stdout.startswith("Typst 0.1.0 (typst)\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_lines_that_fit_it_and_a_bar_before_each_line_of_the_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = good()
    document["description"] = "Nothing. " * 12
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show(page_of(open_target(wheel(tmp_path, manifest=document), YAZ), YAZ, "en-US"))
    assert "\x1b[1mWhat it asks for" in shown.getvalue()
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue()).splitlines()
    assert lines[3:9] == [
        "  wheel yaz_plugin_zotero-0.1.0-py3-none-any.whl,",
        "  9 files",
        "  | Nothing. Nothing. Nothing. Nothing. Nothing.",
        "  | Nothing. Nothing. Nothing. Nothing. Nothing.",
        "  | Nothing. Nothing.",
        "",
    ]
    assert lines[10:13] == [
        "  ! send data to api.zotero.org",
        "      sensitive; asked for when it is first needed",
        "      | Looks up what your library lacks.",
    ]
    assert "  - read and write the files of the project you" in lines
    assert "    work in, except protected ones such as .git" in lines
    assert max(map(len, lines)) <= 50


# -- nothing of it runs -----------------------------------------------------------------------------------------------


def traces(folder: Path) -> dict[str, str]:
    """Code that leaves a file behind, for everything of a plugin that could be run by somebody careless."""
    code = f"open({str(folder / 'trace')!r}, 'a').write(__name__)\n"
    return {
        "yaz_plugin_zotero/__init__.py": code,
        "yaz_plugin_zotero/plugin.py": code,
        "yaz_plugin_zotero/locales/__init__.py": code,
        "setup.py": code,
        "conftest.py": code,
        "zz_trace.pth": f"import sys; {code}",
        "sitecustomize.py": code,
        "pyproject.toml": pyproject(more='\n[build-system]\nrequires = []\nbuild-backend = "setup"\n'),
    }


EACH = """
import sys
from yazcore.cli import main

for target in sys.argv[1:]:
    try:
        main(["preview", target])
    except SystemExit as end:
        print("status", end.code)
"""


def command(
    home: Path, *arguments: str, code: str = "from yazcore.cli import main; main()"
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, at home."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home), "YAZ_HOME": str(home / "yaz"), "PYTHONPATH": str(CHECKOUT),
        "LANG": "en_US.UTF-8",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        capture_output=True, text=True, env=environment, cwd=home, check=False,
    )  # fmt: skip


def test_nothing_of_any_kind_of_target_runs_and_nothing_is_left(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    more = traces(tmp_path)
    folder = tmp_path / "work"
    for name, data in {**package_files(), **more}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(data)
    top = "yaz_plugin_zotero-0.1.0"
    files = {**sdist_files(), **{f"{top}/{name}": data for name, data in more.items()}}
    targets = (wheel(tmp_path, more=more), sdist(tmp_path, files), folder, folder / "yaz_plugin_zotero")
    done = command(home, *map(str, targets), code=EACH)
    assert done.stdout.count("Zotero 0.1.0 (zotero)\n") == 4, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("status ")] == [
        "status 1", "status 0", "status 0", "status 0",
    ]  # fmt: skip
    assert not (tmp_path / "trace").exists()
    assert list(home.iterdir()) == []
    assert not list(folder.rglob("__pycache__"))
    subprocess.run([sys.executable, str(folder / "setup.py")], check=True)
    assert (tmp_path / "trace").exists()  # so it would have been seen


def test_nothing_of_an_installed_plugin_runs(tmp_path: Path) -> None:
    home, site = tmp_path / "home", tmp_path / "site"
    home.mkdir()
    distribution(site, files={**package_files(), **traces(tmp_path)})
    code = f"import sys; sys.path.append({str(site)!r}); from yazcore.cli import main; main()"
    done = command(home, "preview", "zotero", code=code)
    assert done.stdout.startswith("Zotero 0.1.0 (zotero)\n"), done.stderr
    assert not (tmp_path / "trace").exists()
    assert not list(site.rglob("__pycache__"))
    command(home, code=f"import sys; sys.path.append({str(site)!r}); import yaz_plugin_zotero")
    assert (tmp_path / "trace").exists()  # so it would have been seen


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_preview_loads_no_mcp_no_pydantic_no_keyring(tmp_path: Path, options: tuple[str, ...]) -> None:
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(sorted({n.partition('.')[0] for n in sys.modules}), file=sys.stderr))\n"
        "from yazcore.cli import main; main()"
    )
    done = command(tmp_path, "preview", str(wheel(tmp_path / "dist")), *options, code=code)
    loaded = set(json.loads(done.stderr.splitlines()[-1].replace("'", '"')))
    assert done.returncode == 0
    assert "yazcore" in loaded
    assert loaded & {"mcp", "pydantic", "keyring", "asyncio", "filelock", "pygments", "uvicorn"} == set()
    assert ("rich" in loaded) is (options == ())
