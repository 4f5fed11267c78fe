"""The template, all the way: baked, checked, built, installed, tested, granted, and called by an agent over HTTP."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import attrs
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import yazcore
from yazcore.capabilities.grants import RuntimeName
from yazcore.check import Report, check_target
from yazcore.granting import isolation_here
from yazcore.writing.contract import YAZ

CHECKOUT = Path(yazcore.__file__).parent.parent
TEMPLATE = CHECKOUT / "yaz_plugin_template"
YAZ_COMMAND = (sys.executable, "-c", "from yazcore.cli import main; main()")


@attrs.frozen
class Baked:
    """A project that `yaz new` made, the folder it is installed in, and a home folder of its own."""

    project: Path
    site: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """An environment in which yazcore and the plugin are installed, and nothing of the user's is found."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "YAZ_HOME": str(self.home / "yaz"),
            "PYTHONPATH": os.pathsep.join([str(self.site), str(CHECKOUT)]),
        }

    def run(self, *command: str, cwd: Path | None = None) -> str:
        """Run a command in that environment and give what it prints. A failure shows all of its output."""
        done = subprocess.run(
            command, env=self.environment, cwd=cwd or self.home, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Baked:
    """A project baked and installed by pip, without a network and without an isolated build."""
    folder = tmp_path_factory.mktemp("baked")
    made = Baked(folder / "yaz-plugin-word-count", folder / "site", folder / "home")
    made.home.mkdir()
    answers = ("--name", 'Wörter "zählen"', "--author", "Söhne & O'Brien", "--description", "Zählt.")
    made.run(*YAZ_COMMAND, "new", "--id", "word-count", *answers, "--output", str(folder))
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir")
    alone = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    made.run(*pip, "install", *alone, "--target", str(made.site), str(made.project))
    return made


def test_what_is_baked_is_clean(baked: Baked) -> None:
    assert check_target(baked.project, YAZ, static=True) == Report()
    assert check_target(baked.project, YAZ) == Report()


def test_what_is_installed_is_the_package_and_nothing_else(baked: Baked) -> None:
    assert sorted(path.name for path in baked.site.iterdir()) == [
        "yaz_plugin_word_count",
        "yaz_plugin_word_count-0.1.0.dist-info",
    ]
    assert (baked.site / "yaz_plugin_word_count" / "locales" / "en-US.ftl").is_file()


def test_its_own_tests_pass(baked: Baked) -> None:
    copied = baked.home / "tests-alone"  # so that the plugin is found as it is installed, and not beside its tests
    shutil.copytree(baked.project / "tests", copied)
    options = ("-q", "-p", "no:cacheprovider", "-c", str(baked.project / "pyproject.toml"), "--rootdir", str(copied))
    said = baked.run(sys.executable, "-m", "pytest", *options, str(copied), cwd=copied)
    assert "5 passed" in said


def test_it_waits_for_a_grant_and_then_its_command_runs(baked: Baked) -> None:
    (listed,) = [one for one in plugins(baked) if one["id"] == "word-count"]
    assert (listed["state"], listed["distribution"]) == ("held", "yaz-plugin-word-count")
    assert "granted word-count" in baked.run(*YAZ_COMMAND, "grant", "word-count", "--trusted", "--yes")
    (listed,) = [one for one in plugins(baked) if one["id"] == "word-count"]
    assert (listed["state"], listed["tools"]) == ("allowed", ["count-words"])
    assert baked.run(*YAZ_COMMAND, "run", "word-count", "count", "one", "two three") == "3 words\n"


def plugins(baked: Baked) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(baked.run(*YAZ_COMMAND, "plugins", "--json"))["plugins"]
    return found


@pytest.fixture
def serving(baked: Baked, runtime: RuntimeName) -> Iterator[dict[str, Any]]:
    """`yaz serve --json` with the plugin granted, in each runtime in turn; gives the line that it prints."""
    if runtime == "isolated" and (why := isolation_here()) is not None:
        pytest.skip(why)
    baked.run(*YAZ_COMMAND, "grant", "word-count", "--yes", *(["--trusted"] if runtime == "trusted" else []))
    with tempfile.TemporaryFile("w+") as errors:
        server = subprocess.Popen(
            (*YAZ_COMMAND, "serve", "--json"),
            env=baked.environment, cwd=baked.home, stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            errors.seek(0)
            assert line, errors.read()
            yield json.loads(line)
        finally:
            server.terminate()
            try:
                server.wait(30)
            finally:
                server.kill()
                server.stdout.close()


def test_an_agent_calls_its_tool_over_http(baked: Baked, serving: dict[str, Any], runtime: RuntimeName) -> None:
    (running,) = [one for one in plugins(baked) if one["id"] == "word-count"]
    assert (running["state"], running["runtime"]) == ("active", runtime)

    async def talk() -> None:
        headers = {"Authorization": f"Bearer {serving['token']}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http,
            Client(streamable_http_client(serving["url"], http_client=http)) as client,
        ):
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert (tools["word-count__count-words"].description or "").startswith("Counts the words of a text")
            good = await client.call_tool("word-count__count-words", {"text": "one two three"})
            assert (good.is_error, good.structured_content) == (False, {"words": 3})
            bad = await client.call_tool("word-count__count-words", {"text": " "})
            assert bad.is_error
            assert bad.content[0].text == "the text has no words: give a text with at least one"  # type: ignore[union-attr]

    anyio.run(talk)


def test_the_wheel_brings_the_template_along(tmp_path: Path) -> None:
    site, home, out = tmp_path / "site", tmp_path / "home", tmp_path / "out"
    home.mkdir()
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("yazcore-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    answers = ("--id", "word-count", "--author", "Anna", "--yes", "--output", str(out))
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(site)}
    subprocess.run((*YAZ_COMMAND, "new", *answers), env=environment, cwd=home, check=True, capture_output=True)
    assert check_target(out / "yaz-plugin-word-count", YAZ, static=True) == Report()


# -- the template used with cookiecutter alone ----------------------------------------------------------------------


def bake(folder: Path, **answers: str) -> subprocess.CompletedProcess[str]:
    """Bake with cookiecutter's own command."""
    (folder / "config.yaml").write_text(f"replay_dir: {folder / 'replay'}\ncookiecutters_dir: {folder / 'cloned'}\n")
    given = {"plugin_id": "word-count", "name": "Words", "author": "Anna", "description": "Counts.", **answers}
    return subprocess.run(
        [
            sys.executable, "-m", "cookiecutter", "--no-input", "--config-file", str(folder / "config.yaml"),
            "--output-dir", str(folder / "out"), str(TEMPLATE), *(f"{key}={value}" for key, value in given.items()),
        ],
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_cookiecutter_alone_bakes_the_same(tmp_path: Path) -> None:
    done = bake(tmp_path)
    assert done.returncode == 0, done.stderr
    assert check_target(tmp_path / "out" / "yaz-plugin-word-count", YAZ, static=True) == Report()


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"plugin_id": "Word"}, "'Word' is not a plugin id: begin with a letter, use a-z, 0-9 and single hyphens"),
        ({"plugin_id": "a" * 25}, "at most 24 characters"),
        ({"plugin_id": "word\n"}, "is not a plugin id"),
        ({"plugin_id": "../x"}, "'../x' is not a plugin id"),
        ({"plugin_id": ""}, "'' is not a plugin id"),
        ({"plugin_id": "yaz"}, "the id 'yaz' belongs to yaz: choose another"),
        ({"name": " "}, "name says nothing: write what people should read"),
        ({"author": "An\x1bna"}, "author holds characters that nobody can see: remove them"),
        ({"name": "x" * 101}, "name has 101 characters, and at most 100 are shown: shorten it"),
    ],
)
def test_its_hook_refuses_bad_answers_and_leaves_nothing(tmp_path: Path, answers: dict[str, str], reason: str) -> None:
    done = bake(tmp_path, **answers)
    assert done.returncode != 0
    assert reason in done.stderr
    assert list((tmp_path / "out").rglob("*")) == []


def test_its_hook_knows_the_ids_that_yaz_reserves(tmp_path: Path) -> None:
    answers = json.dumps({"plugin_id": "word-count", "name": "a", "author": "a", "description": "a"})
    hook = tmp_path / "hook.py"
    text = (TEMPLATE / "hooks" / "pre_gen_project.py").read_text()
    hook.write_text(text.replace("{{ cookiecutter | tojson }}", answers))
    assert runpy.run_path(str(hook))["RESERVED"] == YAZ.reserved
