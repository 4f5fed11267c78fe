"""`yaz demo` as a test: every step, what it says, and that a step that does not hold is no success."""

from __future__ import annotations

import errno
import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from copy import deepcopy as copy_of
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anyio
import attrs
import pytest
from mcp import Client
from mcp.server.lowlevel import Server

from tests.cli.commands import CHECKOUT, Shell, install_zotero, shell
from yazcore import Serving
from yazcore.granting import isolation_here
from yazcore.writing import demo as story
from yazcore.writing import sample

_T = TypeVar("_T")

Spoil = Callable[[Any, Path], Any]
"""Makes an answer, or the thesis in that folder, wrong; gives the answer."""

STEPS = [
    ("sample thesis", r"\d+ Typst files, a bibliography, one mistake"),
    ("sample library", r"a real zotero\.sqlite with 200 items and more"),
    ("plugins active", r"typst, yaz, zotero"),
    ("MCP server on", r"http://127\.0\.0\.1:\d+/mcp, a token on every request"),
    ("tools/list", r"11 tools, 2 from Zotero"),
    ("read_outline", r"\d+ headings: Introduction, .+, …"),
    ("compile", r"no PDF\. chapters/results\.typ:\d+:\d+: unknown variable: avrage"),
    ("read_document", r"line \d+: .*#avrage.*"),
    ("edit_document", r"#avrage becomes #average"),
    ("search-library", r"'muller cost risk' finds “.+” \(Müller, .+, \d{4}\)"),
    ("cite-item", r"@\w+ at line \d+, one entry in references\.bib"),
    ("compile", r"a PDF of \d+ KiB, read as yaz://project/prj_[a-z2-7]{12}/pdf"),
    ("yaz://permissions", r"owner: \d+ permissions"),
    ("MCP server off", r"the token is dead, the port is closed"),
]


@pytest.fixture
def yaz(tmp_path: Path) -> Iterator[Shell]:
    """A shell with the Zotero plugin, which the user has not granted."""
    with shell(tmp_path / "shell") as made:
        install_zotero(made.site)
        yield made


ISOLATED = [
    ("grant", r"Zotero, isolated, in a YAZ_HOME of the demo's own; your own grants are untouched"),
    ("held by", r"Landlock \d, seccomp \(\d+ instructions\), resource limits"),
]
LACKING = [
    ("grant", r"zotero would run isolated, which this system cannot do: {why}; so it runs trusted here"),
    ("grant", r"Zotero, trusted, in a YAZ_HOME of the demo's own; your own grants are untouched"),
]


def steps(why: str | None) -> list[tuple[str, str]]:
    """What is said where isolation is possible, and where it is not, with the reason."""
    granted = ISOLATED if why is None else [(step, said.format(why=re.escape(why))) for step, said in LACKING]
    return [*STEPS[:2], *granted, *STEPS[2:]]


def held(out: str, expected: list[tuple[str, str]], kept: Path) -> None:
    """Everything that is said, and what is left in the folder."""
    *lines, last = out.splitlines()
    said = [(line[:3].strip(), line[4:22].strip(), line[22:]) for line in lines]
    assert [number for number, _, _ in said] == [str(number) for number in range(1, len(expected) + 1)]
    assert [step for _, step, _ in said] == [step for step, _ in expected]
    for (_, _, result), (step, pattern) in zip(said, expected, strict=True):
        assert re.fullmatch(pattern, result), f"{step}: {result}"
    assert last == f"Everything held. The thesis: {kept / 'thesis.pdf'}"
    assert (kept / "thesis.pdf").read_bytes().startswith(b"%PDF")
    assert sample.MISTAKE not in (kept / "thesis" / "chapters" / "results.typ").read_text("utf-8")
    assert not (kept / "home" / "run.json").exists()


def test_every_step_holds_and_says_what_came_of_it(yaz: Shell, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = yaz.run("demo", "--keep", str(kept))
    assert (done.status, done.err) == (0, "")
    held(done.out, steps(isolation_here()), kept)
    assert not yaz.home.folder.exists(), "the demo has a YAZ_HOME of its own"


WITHOUT_LANDLOCK = CHECKOUT / "tests" / "confinement" / "lacking.py"
LANDLOCK = "landlock_create_ruleset,landlock_add_rule,landlock_restrict_self"
DEMO = "import sys; from yazcore.cli import main; main(sys.argv[4:])"


def test_where_nothing_can_be_isolated_it_says_why_and_everything_holds(yaz: Shell, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    command = [sys.executable, "-P", str(WITHOUT_LANDLOCK), str(int(errno.ENOSYS)), LANDLOCK, DEMO]
    done = subprocess.run(
        [*command, "demo", "--keep", str(kept)], env=yaz.environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    held(done.stdout, steps("this kernel has no Landlock (Linux 5.13 or newer is needed)"), kept)


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample thesis, which the demo plays with."""
    folder = tmp_path / "copy"
    shutil.copytree(sample.FOLDER, folder)
    monkeypatch.setattr(sample, "FOLDER", folder)
    return folder


def test_a_step_that_does_not_hold_ends_the_demo_with_a_sentence(yaz: Shell, copy: Path) -> None:
    results = copy / "chapters" / "results.typ"
    results.write_text(results.read_text("utf-8").replace(sample.MISTAKE, sample.MENDED), "utf-8")
    done = yaz.here("demo")
    assert done.status == 1
    assert done.err.startswith("yaz: [demo-failed] compile: the mistake was not found. ")
    assert done.err.count("\n") == 1
    assert "Everything held" not in done.out
    assert [line[4:22].strip() for line in done.out.splitlines()][-1] == "read_outline"


def test_an_answer_that_is_an_error_ends_the_demo(yaz: Shell, copy: Path) -> None:
    introduction = copy / "chapters" / "introduction.typ"
    introduction.write_text(introduction.read_text("utf-8").replace(story._ANCHOR, "something else"), "utf-8")
    done = yaz.here("demo")
    assert done.status == 1
    assert done.err.startswith("yaz: [demo-failed] zotero__cite-item: the answer is an error: ")


# --- a step whose answer is not what it should be ---


@attrs.frozen
class Play:
    """One demo that held: every answer that its agent got, in order, and the folder it left."""

    answers: tuple[tuple[str, Any], ...]
    kept: Path


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    """The demo, listened to."""
    folder = tmp_path_factory.mktemp("play")
    heard: list[tuple[str, Any]] = []

    class Listener(story._Agent):
        async def tools(self) -> list[str]:
            return self._heard("tools/list", await super().tools())

        async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
            return self._heard(name, await super().call(name, **arguments))

        async def read(self, uri: str) -> bytes:
            return self._heard(uri, await super().read(uri))

        def _heard(self, what: str, answer: _T) -> _T:
            heard.append((re.sub("prj_[a-z2-7]{12}", "ID", what), answer))
            return answer

    with shell(folder / "shell") as yaz, pytest.MonkeyPatch.context() as patch:
        install_zotero(yaz.site)
        patch.setattr(story, "_Agent", Listener)
        done = yaz.here("demo", "--keep", str(folder / "kept"))
    assert done.status == 0, done.err
    return Play(tuple(heard), folder / "kept")


class Again(story._Agent):
    """An agent that gets the answers of a play again, of which one is spoiled."""

    def __init__(self, answers: Iterable[tuple[str, Any]], thesis: Path, spoil: int | None, how: Spoil) -> None:
        super().__init__(None)
        self._answers = enumerate(answers)
        self._thesis = thesis
        self._spoil = (spoil, how)

    def _next(self) -> Any:
        at, (_, answer) = next(self._answers)
        return self._spoil[1](copy_of(answer), self._thesis) if at == self._spoil[0] else answer

    async def tools(self) -> list[str]:
        found: list[str] = self._next()
        return found

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._next()
        return found

    async def read(self, uri: str) -> bytes:
        found: bytes = self._next()
        return found


def told(play: Play, folder: Path, spoil: int | None = None, how: Spoil = lambda answer, thesis: answer) -> list[str]:
    """Play the agent's part again over the thesis that was left; gives the steps that held."""
    thesis = shutil.copytree(play.kept / "thesis", folder / "thesis")
    held: list[str] = []
    agent = Again(play.answers, thesis, spoil, how)
    anyio.run(story._story, agent, thesis, folder / "thesis.pdf", lambda step, result: held.append(step))
    return held


def but(**changed: Any) -> Spoil:
    return lambda answer, thesis: {**answer, **changed}


def mistaken_again(answer: Any, thesis: Path) -> Any:
    results = thesis / "chapters" / "results.typ"
    results.write_text(results.read_text("utf-8").replace(sample.MENDED, sample.MISTAKE), "utf-8")
    return answer


def cited_twice(answer: Any, thesis: Path) -> Any:
    with (thesis / answer["bibliography"]).open("a", encoding="utf-8") as bibliography:
        bibliography.write(f"@book{{{answer['citationKey']},}}\n")
    return answer


def of_somebody_else(answer: Any, thesis: Path) -> Any:
    return {**answer, "items": [{**one, "creators": ["Nobody"]} for one in answer["items"]]}


def without_editing(answer: Any, thesis: Path) -> Any:
    mine = json.loads(answer)
    mine["permissions"] = [one for one in mine["permissions"] if one["permission"] != "yaz:edit"]
    return json.dumps(mine).encode()


PDF = "yaz://project/ID/pdf"

SPOILED: list[tuple[str, int, Spoil, str]] = [
    ("tools/list", 0, lambda answer, thesis: answer[:-2], "tools/list: it lists ['compile', "),
    ("list_projects", 0, but(projects=[]), "list_projects: there are 0 projects, and should be one"),
    ("read_outline", 0, but(nodes=[]), "read_outline: it gives []"),
    ("compile", 0, but(succeeded=True), "compile: the mistake was not found"),
    ("compile", 0, but(hasErrors=False), "compile: the mistake was not found"),
    ("list_diagnostics", 0, but(diagnostics=[]), "list_diagnostics: there are 0 errors, and should be one"),
    ("read_document", 0, but(text="Nothing"), "read_document: line 20 is 'Nothing'"),
    ("edit_document", 0, mistaken_again, "edit_document: chapters/results.typ is as it was"),
    ("zotero__search-library", 0, but(items=[]), "search-library: nothing by Müller was found for 'muller cost risk'"),
    ("zotero__search-library", 0, of_somebody_else, "search-library: nothing by Müller was found for "),
    ("zotero__cite-item", 0, but(inserted=False), "cite-item: it is not in chapters/introduction.typ"),
    ("zotero__cite-item", 0, but(citationKey="none"), "cite-item: it is not in chapters/introduction.typ"),
    ("zotero__cite-item", 0, cited_twice, "cite-item: references.bib has 2 entries of it"),
    ("compile", 1, but(succeeded=False), "compile: it says {"),
    ("compile", 1, but(hasErrors=True), "compile: it says {"),
    (PDF, 0, lambda answer, thesis: b"<html>", "compile: the resource is no PDF"),
    ("yaz://permissions", 0, without_editing, "yaz://permissions: it says {"),
]
"""An answer (the how-manieth of that name), what is wrong with it, and what is said of it."""


@pytest.mark.parametrize(
    ("name", "number", "how", "said"), SPOILED, ids=[f"{name}-{number}" for name, number, _, _ in SPOILED]
)
def test_a_wrong_answer_ends_the_demo_at_its_step(
    play: Play, tmp_path: Path, name: str, number: int, how: Spoil, said: str
) -> None:
    at = [index for index, (what, _) in enumerate(play.answers) if what == name][number]
    with pytest.raises(story.StepFailed) as caught:
        told(play, tmp_path, at, how)
    assert caught.value.code == "demo-failed"
    assert caught.value.message.startswith(said)


def test_every_answer_is_looked_at(play: Play, tmp_path: Path) -> None:
    spoiled = {(name, number) for name, number, _, _ in SPOILED}
    names = [name for name, _ in play.answers]
    assert {(name, names[:at].count(name)) for at, name in enumerate(names)} == spoiled
    assert told(play, tmp_path) == [step for step, _ in STEPS[4:-1]]


async def refused_by_an_empty_server(ask: Callable[[story._Agent], Awaitable[object]]) -> str:
    async with Client(Server("empty")) as client:
        with pytest.raises(story.StepFailed) as caught:
            await ask(story._Agent(client))
    return caught.value.message


@pytest.mark.parametrize(
    ("step", "ask"),
    [
        ("tools/list", lambda agent: agent.tools()),
        ("compile", lambda agent: agent.call("compile")),
        ("yaz://permissions", lambda agent: agent.read("yaz://permissions")),
    ],
    ids=["tools", "call", "read"],
)
def test_a_refused_request_ends_the_demo_at_its_step(
    step: str, ask: Callable[[story._Agent], Awaitable[object]]
) -> None:
    assert anyio.run(refused_by_an_empty_server, ask) == f"{step}: the answer is an error: Method not found"


def test_a_port_that_stays_open_ends_the_demo(yaz: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[socket.socket] = []

    class Reopened(Serving):
        async def stop(self) -> None:
            url = json.loads((tmp_path / "kept" / "home" / "run.json").read_text())["url"]
            await super().stop()
            taken.append(socket.create_server(("127.0.0.1", urlsplit(url).port or 0)))

    monkeypatch.setattr(story, "Serving", Reopened)
    done = yaz.here("demo", "--keep", str(tmp_path / "kept"))
    taken[0].close()
    assert done.status == 1
    assert done.err.startswith("yaz: [demo-failed] MCP server off: somebody still listens at its port. ")


# --- what it needs ---


def test_without_the_zotero_plugin_the_demo_says_what_it_needs(yaz: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaz_plugin_zotero.sample", None)
    done = yaz.here("demo")
    assert (done.status, done.out) == (1, "")
    assert done.err == (
        "yaz: [demo-needs-zotero] the demo cites with the Zotero plugin, which is not installed. "
        "pip install yaz-plugin-zotero\n"
    )


def test_a_folder_that_is_not_empty_is_left_alone(yaz: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.typ").write_text("= Mine")
    done = yaz.here("demo", "--keep", str(tmp_path / "mine"))
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith("mine is not empty\n")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.typ"]
