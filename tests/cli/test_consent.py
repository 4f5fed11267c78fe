"""`yaz grant`, `revoke`, `enable`, `disable`, `denials`: what a person reads, what it comes to, and when it counts."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import DEMO, Done, Served, Shell, install, install_zotero, make_library
from tests.writing.worlds import write
from yazcore.capabilities.broker import READ_POSTURE
from yazcore.capabilities.denials import DenialLog

DEMO_WRITE = 'fs-project {"access": "write"}'


def refused(done: Done, sentence: str) -> None:
    """The command did nothing but say one sentence."""
    assert done == Done(1, "", f"yaz: {sentence}\n")


@pytest.fixture
def held(yaz: Shell) -> Shell:
    """A shell with the plugin `demo`, not granted yet."""
    install(yaz.site, **DEMO)
    return yaz


# -- grant ------------------------------------------------------------------------------------------------------------

MEANING = """\
Demo (demo) 1.0 by Anna asks:
    read and write the files of the project you work in, except protected ones such as .git and .env
    agents get a tool: echo (read, global, needs demo:read)
    agents get a tool: refuse (read, global, needs demo:read)
    agents get a tool: crash (read, global, needs demo:read)
    agents get a tool: wait (read, global, needs demo:read)
    agents get a tool: note (write, project, needs demo:read)
It will run trusted: inside yaz's own process. The lines above are kept by yaz's services, but nothing
stops its code from doing what you yourself could do. Grant it only if you trust who wrote it.
"""


def state(yaz: Shell, plugin_id: str) -> str:
    (found,) = [one["state"] for one in yaz.here("plugins", "--json").json["plugins"] if one["id"] == plugin_id]
    assert isinstance(found, str)
    return found


def test_grant_says_what_it_means_and_asks(held: Shell) -> None:
    done = held.here("grant", "demo", "--trusted", typed="y\n")
    assert (done.status, done.err) == (0, "")
    assert done.out == f"{MEANING}Grant this? [y/N]: granted demo; it runs from the next start on\n"
    assert state(held, "demo") == "allowed"


@pytest.mark.parametrize("typed", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_granted(held: Shell, typed: str) -> None:
    done = held.here("grant", "demo", "--trusted", typed=typed)
    assert done.status == 1
    assert done.err.endswith("nothing was granted; --yes grants without asking\n")
    assert state(held, "demo") == "held"
    assert not held.home.path("grants.json").exists()


def test_yes_asks_nothing(held: Shell) -> None:
    out = f"{MEANING}granted demo; it runs from the next start on\n"
    assert held.here("grant", "demo", "--trusted", "--yes") == Done(0, out, "")


def test_without_the_word_trusted_a_third_partys_plugin_is_isolated(held: Shell) -> None:
    done = held.here("grant", "demo", "--yes")
    assert (done.status, done.err) == (0, "")
    assert done.out == (
        f"{MEANING.partition('It will run')[0]}"
        "It will run isolated: in a process of its own, where the kernel opens to it only its own code, the Python it\n"
        "runs on and its data folder. All else it has to ask yaz for, and gets it only as the lines above say.\n"
        "granted demo; it runs from the next start on\n"
    )
    (demo,) = (one for one in held.here("plugins", "--json").json["plugins"] if one["id"] == "demo")
    assert (demo["runtime"], demo["state"]) == ("isolated", "allowed")


def test_grant_as_json_says_the_same_on_standard_error(held: Shell) -> None:
    done = held.here("grant", "demo", "--trusted", "--json", typed="y\n")
    assert (done.status, done.err) == (0, f"{MEANING}Grant this? [y/N]: ")
    assert done.json == {
        "live": False, "plugin": "demo", "version": "1.0", "state": "allowed", "reasons": [], "granted": [DEMO_WRITE],
        "leftOut": [], "places": {}, "commands": {},
    }  # fmt: skip


def test_what_is_optional_is_left_out_unless_it_is_asked_for(yaz: Shell) -> None:
    capabilities = [{"kind": "fs-project"}, {"kind": "net", "hosts": ["example.org"], "optional": True}]
    install(yaz.site, **{**DEMO, "capabilities": capabilities})
    lines = yaz.here("grant", "demo", "--trusted", "--yes").out.splitlines()
    assert any("example.org" in line and line.startswith("    not granted (optional): ") for line in lines)
    document = yaz.here("grant", "demo", "--trusted", "--yes", "--json", "--with-optional")
    assert len(document.json["granted"]) == 2
    assert any("example.org" in line and line.startswith("  ! ") for line in document.err.splitlines())


def test_each_line_has_the_plugins_own_reason_and_each_command_its_program(yaz: Shell) -> None:
    capabilities = [
        {"kind": "fs-project", "reasonKey": "text"},
        {"kind": "process", "commands": ["env", "no-such-command"]},
    ]
    install(yaz.site, **{**DEMO, "capabilities": capabilities})
    done = yaz.here("grant", "demo", "--trusted", "--yes", "--json")
    lines = done.err.splitlines()
    assert lines[1:7] == [
        "  ! run env, no-such-command, which can run any program inside the same limits",
        "    read the files of the project you work in, except protected ones such as .git and .env",
        "        A text",
        f"    env is {os.path.realpath('/usr/bin/env')}, and does whatever the plugin tells it",
        "    no-such-command is not there: install it, and grant again",
        "    agents get a tool: echo (read, global, needs demo:read)",
    ]
    assert done.json["commands"] == {"env": os.path.realpath("/usr/bin/env")}


def test_a_command_whose_file_is_a_shell_is_told_so_whatever_its_name(yaz: Shell) -> None:
    install(yaz.site, **{**DEMO, "capabilities": [{"kind": "process", "commands": ["renderer"]}]})
    shell = os.path.realpath("/bin/sh")
    done = yaz.here("grant", "demo", "--trusted", "--yes", "--command", "renderer=/bin/sh")
    assert f"    renderer is {shell}, and does whatever the plugin tells it" in done.out.splitlines()


def test_one_capability_is_added_to_a_grant(yaz: Shell) -> None:
    capabilities = [{"kind": "fs-project"}, {"kind": "net", "hosts": ["example.org"], "optional": True}]
    install(yaz.site, **{**DEMO, "capabilities": capabilities})
    refused(
        yaz.here("grant", "demo", "net", "--yes"),
        "[not-granted] demo has no grant yet, to which something could be added. yaz grant demo grants what it "
        "requires",
    )
    yaz.here("grant", "demo", "--trusted", "--yes")
    assert len(yaz.here("grant", "demo", "net", "--yes", "--json").json["granted"]) == 2
    assert len(yaz.here("grant", "demo", "--trusted", "--yes", "--json").json["granted"]) == 2


def test_adding_one_capability_approves_no_update_whose_tools_changed(yaz: Shell) -> None:
    capabilities = [{"kind": "fs-project"}, {"kind": "net", "hosts": ["example.org"], "optional": True}]
    install(yaz.site, **{**DEMO, "capabilities": capabilities})
    yaz.here("grant", "demo", "--trusted", "--yes")
    for path in yaz.site.iterdir():
        shutil.rmtree(path)
    tools = [{**one, "posture": "write"} if one["name"] == "echo" else one for one in DEMO["provides"]["tools"]]
    provides = {**DEMO["provides"], "tools": tools}
    install(yaz.site, version="1.1", **{**DEMO, "capabilities": capabilities, "provides": provides})
    done = yaz.here("grant", "demo", "net", "--yes")
    assert done.status == 1
    assert "agents get a tool" not in done.out
    assert done.out.splitlines()[-1].startswith(
        "granted demo, but it is held: tools/echo has changed since it was granted"
    )
    assert state(yaz, "demo") == "held"
    entry = json.loads(yaz.home.path("grants.json").read_text())["plugins"]["demo"]
    assert (entry["version"], len(entry["capabilities"])) == ("1.0", 2)
    yaz.here("grant", "demo", "--trusted", "--yes")
    assert state(yaz, "demo") == "allowed"


def test_denials_that_are_alike_are_told_once(held: Shell) -> None:
    log = DenialLog(held.home)
    for target in ("a", "b\x1b", "a"):
        why = ("it is not public", "address") if target == "a" else ("", "")
        log.record("demo", "net", target, "out-of-scope", "tools echo", *why)
    log.record("demo", "process", "ls", "out-of-scope", "tools echo", READ_POSTURE, "posture")
    log.record("demo", "mcp-client", "checker check\x1b", "out-of-scope", "tools echo", READ_POSTURE, "unmarked-tool")
    log.record("demo", "process", "ls", "not-declared", "tools echo")
    times = [one["time"] for one in log.of("demo")]
    assert held.here("denials", "demo").out.splitlines() == [
        f"{times[1]}  net, out-of-scope, in tools echo",
        "  tried: b\\u001b",
        "  what would allow it: nothing here: it is beyond what demo asks for; a new version could ask for it",
        f"{times[2]}  net, out-of-scope, 2 times, in tools echo",
        "  tried: a",
        "  why: it is not public",
        ("  what would allow it: an address in the public internet for that name; "
        "else only a version of demo that asks for private ones"),
        f"{times[3]}  process, out-of-scope, in tools echo",
        "  tried: ls",
        "  why: it runs with posture read, which changes nothing",
        ("  what would allow it: nothing: a tool that only reads changes nothing; "
        "its author has to declare that it writes"),
        f"{times[4]}  mcp-client, out-of-scope, in tools echo",
        "  tried: checker check\\u001b",
        "  why: it runs with posture read, which changes nothing",
        "  what would allow it: yaz server mark checker 'check\\u001b' --read, if you know that it only reads",
        f"{times[5]}  process, not-declared, in tools echo",
        "  tried: ls",
        "  what would allow it: only a new version of demo: its manifest does not ask for this",
    ]


def test_grant_of_what_is_not_there_and_of_what_ships_are_sentences(held: Shell) -> None:
    refused(
        held.here("grant", "nothing", "--trusted"),
        "[unknown-plugin] no plugin 'nothing' is installed. installed are demo, typst, yaz",
    )
    refused(
        held.here("grant", "typst", "--trusted"),
        "[already-shipped] typst ships with the application and needs no grant. yaz disable typst switches it off",
    )


def test_a_refused_plugin_cannot_be_granted(yaz: Shell) -> None:
    install(yaz.site, provides={}, licence="MIT")
    refused(
        yaz.here("grant", "demo", "--trusted", "--yes"),
        "[manifest-refused] the manifest of demo has 1 violation. yaz show demo lists them",
    )


@pytest.mark.parametrize("place", ["zotero-data", "=x", "zotero-data="])
def test_a_place_that_is_no_pair_is_wrong_use(yaz: Shell, place: str) -> None:
    done = yaz.here("grant", "zotero", "--trusted", "--place", place)
    assert (done.status, done.out) == (2, "")
    assert f"{place!r} is not NAME=FOLDER" in done.err


@pytest.fixture
def zotero(yaz: Shell) -> Shell:
    """A shell with the Zotero plugin, not granted yet."""
    install_zotero(yaz.site)
    return yaz


FOLDER = "the folder for 'zotero-data'"
WIDE = "is too wide to be granted: it holds your whole home folder"
UNBOUND = "zotero needs a folder for 'zotero-data', and none of its suggestions exists"


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("zotero=/nowhere", "[place-unknown] zotero names no place 'zotero'. did you mean 'zotero-data'?"),
        ("zotero-data=/nowhere", f"[place-missing] {FOLDER} is not there. give a folder that exists"),
        ("zotero-data=~", f"[place-too-wide] {FOLDER} {WIDE}. give one below it"),
        (None, f"[place-unbound] {UNBOUND}. yaz grant zotero --trusted --place zotero-data=FOLDER"),
    ],
)
def test_a_folder_that_cannot_be_granted_is_a_sentence(zotero: Shell, place: str | None, sentence: str) -> None:
    places = [] if place is None else ["--place", place]
    refused(zotero.here("grant", "zotero", "--trusted", "--yes", *places), sentence)


def test_a_suggested_folder_is_taken_and_said(zotero: Shell) -> None:
    (zotero.user / "Zotero").mkdir()
    done = zotero.here("grant", "zotero", "--trusted", "--yes")
    assert f"    zotero-data is {zotero.user / 'Zotero'}" in done.out.splitlines()


def test_a_folder_that_was_chosen_once_stays(zotero: Shell, tmp_path: Path) -> None:
    (zotero.user / "Zotero").mkdir()
    chosen = tmp_path / "library"
    chosen.mkdir()
    grant = ("grant", "zotero", "--trusted", "--yes", "--json")
    assert zotero.here(*grant, "--place", f"zotero-data={chosen}").json["places"] == {"zotero-data": str(chosen)}
    assert zotero.here(*grant).json["places"] == {"zotero-data": str(chosen)}
    chosen.rmdir()
    assert zotero.here(*grant).json["places"] == {"zotero-data": str(zotero.user / "Zotero")}


# -- revoke, enable, disable ------------------------------------------------------------------------------------------


def test_revoke_of_one_capability_denies_it_and_grant_takes_the_denial_away(held: Shell) -> None:
    held.here("grant", "demo", "--trusted", "--yes")
    assert held.here("revoke", "demo", "fs-project") == Done(0, f"denied to demo: {DEMO_WRITE}\n", "")
    assert held.here("revoke", "demo", "fs-project", "--json").json == {
        "live": False, "plugin": "demo", "state": "allowed", "denied": [DEMO_WRITE]
    }  # fmt: skip
    assert json.loads(held.home.path("grants.json").read_text())["plugins"]["demo"]["denied"] == [DEMO_WRITE]
    held.here("grant", "demo", "--trusted", "--yes")
    assert json.loads(held.home.path("grants.json").read_text())["plugins"]["demo"]["denied"] == []


def test_revoke_of_a_whole_plugin_holds_it(held: Shell) -> None:
    held.here("grant", "demo", "--trusted", "--yes")
    said = "the grant of demo is taken back; it will not run until it is granted again\n"
    assert held.here("revoke", "demo") == Done(0, said, "")
    assert state(held, "demo") == "held"
    refused(held.here("revoke", "demo"), "[not-granted] demo has no grant. yaz plugins shows what is granted")


def test_revoke_of_what_is_not_declared_is_a_sentence(held: Shell) -> None:
    refused(
        held.here("revoke", "demo", "net"),
        "[capability-not-declared] demo declares no capability 'net'. it declares fs-project",
    )


def test_what_ships_can_be_denied_a_capability_and_be_given_it_again(yaz: Shell) -> None:
    identity = 'fs-project {"access": "read"}'
    assert yaz.here("revoke", "typst", "fs-project").out == f"denied to typst: {identity}\n"
    assert yaz.here("grant", "typst") == Done(0, f"no longer denied to typst: {identity}\n", "")
    refused(
        yaz.here("revoke", "typst"),
        "[already-shipped] typst ships with the application and has no grant to take back. "
        "yaz disable typst switches it off; yaz revoke typst KIND denies it one capability",
    )


def test_a_plugin_is_switched_off_and_on_and_its_grant_is_kept(held: Shell) -> None:
    assert held.here("enable", "demo").out == "demo is on, but held: it has not been granted\n"
    held.here("grant", "demo", "--trusted", "--yes")
    assert held.here("disable", "demo") == Done(0, "demo is off\n", "")
    assert state(held, "demo") == "disabled"
    assert held.here("enable", "demo") == Done(0, "demo is on\n", "")
    assert state(held, "demo") == "allowed"
    assert held.here("disable", "typst", "--json").json == {
        "live": False, "plugin": "typst", "state": "disabled", "reasons": ["it is switched off"]
    }  # fmt: skip


def test_the_application_itself_cannot_be_switched_off(yaz: Shell) -> None:
    refused(yaz.here("disable", "yaz"), "[own-plugin] yaz is the application itself and is always on")


@pytest.mark.parametrize("command", ["grant", "revoke", "enable", "disable", "denials"])
def test_what_can_be_no_id_is_wrong_use(yaz: Shell, command: str) -> None:
    for text in ("../x", "Ä", "", "a/b", "x\n"):
        done = yaz.here(command, text)
        assert (done.status, done.out) == (2, "")
        assert "is no id of a plugin" in done.err


@pytest.mark.parametrize("command", ["enable", "disable", "denials"])
def test_what_is_not_installed_is_a_sentence(yaz: Shell, command: str) -> None:
    refused(
        yaz.here(command, "nothing"), "[unknown-plugin] no plugin 'nothing' is installed. installed are typst, yaz"
    )


def test_where_nothing_was_refused_denials_say_so(held: Shell) -> None:
    assert held.here("denials", "demo") == Done(0, "nothing was refused to demo\n", "")
    assert held.here("denials", "demo", "--json").json == {"live": False, "plugin": "demo", "denials": []}


# -- in a running yaz -------------------------------------------------------------------------------------------------


def names(served: Served) -> set[str]:
    return {tool["name"] for tool in served.ask("tools/list")["result"]["tools"]}


def test_a_grant_makes_the_tools_appear_and_a_revoke_makes_them_go(held: Shell, thesis: Path) -> None:
    served = held.serve(str(thesis))
    assert not any(name.startswith("demo__") for name in names(served))
    granted = held.here("grant", "demo", "--trusted", "--yes")
    assert granted.out.endswith("granted demo; it is active now\n")
    assert served.call("demo__echo", text="hi")["structuredContent"] == {"text": "hi"}
    assert held.here("disable", "demo").out == "demo is off\n"
    assert not any(name.startswith("demo__") for name in names(served))
    assert held.here("enable", "demo", "--json").json["state"] == "active"
    assert held.here("revoke", "demo", "--json").json == {
        "live": True, "plugin": "demo", "state": "held", "denied": []
    }  # fmt: skip
    assert served.ask("tools/call", name="demo__echo", arguments={"text": "hi"})["error"]["code"] == -32602
    assert (held.home.plugin_data("demo") / "unloaded").exists()


def test_a_plugin_that_fails_when_it_is_granted_is_told_and_is_status_1(yaz: Shell, thesis: Path) -> None:
    install(yaz.site, **{**DEMO, "code": "raise ValueError('no\\x1b luck')"})
    served = yaz.serve(str(thesis))
    done = yaz.here("grant", "demo", "--trusted", "--yes")
    assert done.status == 1
    assert re.fullmatch(
        r"granted demo, but it is failed: demo 1\.0: import or constructor raised ValueError: no\\u001b luck; "
        r"yaz log [0-9a-f]{8} says why; all of it: yaz show demo",
        done.out.splitlines()[-1],
    )
    assert served.call("list_projects")["isError"] is False


@pytest.fixture
def library(zotero: Shell) -> Shell:
    """A shell with the Zotero plugin, granted, over a sample library."""
    make_library(zotero, zotero.user / "Zotero")
    assert zotero.here("grant", "zotero", "--trusted", "--yes").status == 0
    return zotero


def test_a_revoked_capability_is_refused_at_the_next_call_until_it_is_granted_again(
    library: Shell, tmp_path: Path
) -> None:
    thesis = write(tmp_path / "thesis", {"main.typ": "= One\nIt is so.\n"})
    served = library.serve(str(thesis))
    found = served.call("zotero__search-library", query="")["structuredContent"]["items"]
    cite: dict[str, Any] = {"projectId": served.project_id, "key": found[0]["key"], "bibliography": "references.bib"}
    assert library.here("revoke", "zotero", "fs-project").status == 0
    answer = served.call("zotero__cite-item", **cite)
    assert answer["isError"] is True
    assert answer["content"][0]["text"] == (
        "zotero may not do this: fs-project, not-granted. "
        "The user can see what was tried with: yaz denials zotero"
    )  # fmt: skip
    assert not (thesis / "references.bib").exists()
    document = library.here("denials", "zotero", "--json").json
    assert (document["live"], document["plugin"]) == (True, "zotero")
    (denial,) = document["denials"]
    assert (denial["capability"], denial["reason"]) == ("fs-project", "not-granted")
    assert library.here("denials", "zotero").out == (
        f"{denial['time']}  fs-project, not-granted, in tools cite-item\n"
        "  tried: references.bib\n"
        "  what would allow it: yaz grant zotero fs-project\n"
    )
    assert library.here("grant", "zotero", "fs-project", "--yes").status == 0
    assert served.call("zotero__cite-item", **cite)["isError"] is False
    assert (thesis / "references.bib").exists()
