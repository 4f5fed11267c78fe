"""`yaz plugins` and `yaz show`: what is installed, word for word, and without running any of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import DEMO, Served, Shell, install, install_zotero

KEYS = (
    "id", "name", "version", "distribution", "state", "runtime", "confinement", "capabilities", "tools", "violations",
    "differences",
)  # fmt: skip


def test_a_list_says_state_and_why_and_what_helps(yaz: Shell) -> None:
    install(yaz.site, **DEMO)
    install(yaz.site, "broken", provides={}, licence="MIT")
    done = yaz.here("plugins")
    assert (done.status, done.err) == (0, "")
    assert done.out == (
        'ID      VERSION  STATE    RUNTIME   TOOLS  WHY\n'
        'broken  1.0      refused  trusted   0      1 violation, first: unknown key "licence"\n'
        'demo    1.0      held     isolated  5      it has not been granted\n'
        'typst   0.1.0    allowed  trusted   0\n'
        'yaz     0.1.0    allowed  trusted   9\n'
        'broken: yaz show broken says all of it\n'
        'demo: yaz grant demo lets it run\n'
    )  # fmt: skip


def test_json_has_the_promised_keys_and_tells_that_nothing_runs(yaz: Shell) -> None:
    install(yaz.site, **DEMO)
    document = yaz.here("plugins", "--json").json
    assert set(document) == {"live", "plugins", "skipped"}
    assert document["live"] is False
    assert {one["id"]: one["state"] for one in document["plugins"]} == {
        "demo": "held", "typst": "allowed", "yaz": "allowed"
    }  # fmt: skip
    for one in document["plugins"]:
        assert set(KEYS) <= set(one)
        assert one["confinement"] == "not running"
    (demo, *_) = document["plugins"]
    assert demo["distribution"] == "yaz-plugin-demo"
    assert demo["capabilities"] == ['fs-project {"access": "write"}']
    assert demo["tools"] == ["echo", "refuse", "crash", "wait", "note"]


def test_a_running_yaz_answers_for_itself(standing: tuple[Shell, Served]) -> None:
    demo, _ = standing
    document = demo.here("plugins", "--json").json
    assert document["live"] is True
    assert {one["id"]: one["state"] for one in document["plugins"]} == {
        "demo": "active", "typst": "active", "yaz": "active"
    }  # fmt: skip
    for one in document["plugins"]:
        assert set(KEYS) <= set(one)
        assert one["confinement"] == "none, but a guard against accidents: it runs with the host's own rights"
    shown = demo.here("show", "demo", "--json").json
    assert shown == {"live": True, **document["plugins"][0]}


def test_what_is_skipped_is_said_with_the_reason(yaz: Shell) -> None:
    where = install(yaz.site, "typst")
    assert where.exists()
    document = yaz.here("plugins", "--json").json
    assert [(one["distribution"], one["code"]) for one in document["skipped"]] == [("yaz-plugin-typst", "id-reserved")]
    (line,) = [line for line in yaz.here("plugins").out.splitlines() if line.startswith("skipped")]
    assert line.startswith("skipped yaz-plugin-typst: [id-reserved] ")


PROJECT = "read and write the files of the project you work in, except protected ones such as .git and .env"
WHY = "Writes the entry of a cited item into the project's bibliography, and the citation into the document."


def test_show_says_what_it_may_do_and_what_it_adds(yaz: Shell, tmp_path: Path) -> None:
    install_zotero(yaz.site)
    library = tmp_path / "library"
    library.mkdir()
    assert yaz.here("grant", "zotero", "--trusted", "--yes", "--place", f"zotero-data={library}").status == 0
    assert yaz.here("revoke", "zotero", "fs-project").status == 0
    lines = yaz.here("show", "zotero").out.splitlines()
    assert lines[:10] == [
        "plugin        Zotero (zotero) 0.1.0",
        "state         allowed",
        "runtime       trusted: not running",
        "author        the yaz developers",
        "description   Searches your Zotero library and cites from it, while Zotero runs or not.",
        f"asks to       {PROJECT} [revoked]",
        f"              {WHY}",
        "may           read files below the folder you choose as zotero-data (suggested: ~/Zotero) [granted]",
        "              Reads Zotero's database through a private copy. Zotero's own files are never changed.",
        f"place         zotero-data is {library}",
    ]
    assert lines[10].startswith("command       yaz run zotero status: ")
    labels = {line[:14].strip() for line in lines[11:]} - {""}
    assert labels == {"tool", "resource", "setting"}
    assert "tool          cite-item: write, project, needs zotero:write, approval none" in lines


def test_show_of_a_held_plugin_says_what_helps(yaz: Shell) -> None:
    install(yaz.site, **DEMO)
    lines = yaz.here("show", "demo").out.splitlines()
    assert lines[1:5] == [
        "state         held",
        "runtime       isolated: not running",
        "why           it has not been granted",
        "what helps    yaz grant demo lets it run",
    ]


def test_show_of_a_refused_plugin_lists_every_violation(yaz: Shell) -> None:
    install(yaz.site, licence="MIT", homepage="there")
    lines = yaz.here("show", "demo").out.splitlines()
    assert [line for line in lines if line.startswith("error")] == [
        'error         /licence [manifest-unknown-key] unknown key "licence". did you mean "license"?',
        'error         /homepage [manifest-unknown-key] unknown key "homepage". '
        + next(line for line in lines if "homepage" in line).partition('"homepage". ')[2],
    ]


def test_show_of_nothing_says_what_there_is(yaz: Shell) -> None:
    done = yaz.here("show", "nothing")
    assert (done.status, done.out) == (1, "")
    assert done.err == "yaz: [unknown-plugin] no plugin 'nothing' is installed. installed are typst, yaz\n"


def test_nothing_of_a_plugin_runs_for_a_list(yaz: Shell) -> None:
    install(yaz.site, **{**DEMO, "code": "raise SystemExit(7)"})
    assert yaz.here("plugins").status == 0
    assert yaz.here("show", "demo").status == 0


@pytest.mark.parametrize(
    "trick",
    ["\x1b[2J\x1b[Hzotero", "line\nzotero  9.9  on", "a\u202eevitca", "b\u2066c", "\u2028zotero", "\x9b2J", "\x85z"],
    ids=ascii,
)
def test_no_text_of_a_plugin_forges_a_line(yaz: Shell, trick: str) -> None:
    """Whatever reading lets through or refuses, what is printed holds nothing that moves or reorders."""
    install(yaz.site, texts=f"text = A text {trick.splitlines()[0]}\n")
    path = yaz.site / "yaz_plugin_demo" / "manifest.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "name": f"Demo {trick}", "description": f"Does {trick}", "author": trick}))
    before = yaz.here("plugins").out.count("\n")
    for command in (("plugins",), ("show", "demo"), ("plugins", "--json"), ("grant", "demo", "--trusted")):
        done = yaz.here(*command)
        for text in (done.out, done.err):
            assert all(line.isprintable() for line in text.split("\n"))
            assert not any(line.startswith(("zotero", "evitca")) for line in text.split("\n"))
    assert yaz.here("plugins").out.count("\n") == before


@pytest.mark.parametrize("text", ["{", '{"plugins": []}', '{"plugins": {"demo": {"time": 7}}}', ""])
def test_broken_grants_are_a_sentence(yaz: Shell, text: str) -> None:
    yaz.home.write_text("grants.json", text)
    for command in (("plugins",), ("show", "typst"), ("grant", "typst"), ("enable", "typst")):
        done = yaz.here(*command)
        assert (done.status, done.out) == (1, "")
        assert done.err.startswith("yaz: [")
        assert "grants.json" in done.err
        assert done.err.count("\n") == 1
