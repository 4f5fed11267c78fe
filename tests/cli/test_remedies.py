"""What would allow what was refused: a sentence for each cause, and the commands in them are commands of yaz."""

from __future__ import annotations

import re
from typing import Any, get_args

import click
import pytest

from yazcore.capabilities.errors import Reason
from yazcore.cli import yaz
from yazcore.cli.remedies import BY_CAUSE, Denied, remedy
from yazcore.kinds.causes import Cause


def denied(cause: str, target: str = "a", kind: str = "fs-read", **more: Any) -> Denied:
    return Denied(**{
        "plugin": "zotero", "kind": kind, "target": target, "reason": "out-of-scope", "where": "tools cite-item",
        "cause": cause, **more,
    })  # fmt: skip


FOLDER = "yaz grant zotero fs-read --place data=FOLDER"
SENTENCES = [
    (denied("posture"), "nothing: a tool that only reads changes nothing; its author has to declare that it writes"),
    (
        denied("posture", where="resources item"),
        "nothing: only commands, and tools that say that they write, change anything; its author has to use one",
    ),
    (
        denied("unmarked-tool", "checker check-it", "mcp-client"),
        "yaz server mark checker check-it --read, if you know that it only reads",
    ),
    (denied("malformed", "../a"), "nothing: its author has to mend what it asks for"),
    (denied("malformed", "../a", reason="not-granted"), "nothing: its author has to mend what it asks for"),
    (
        denied("protected", ".git/config", "fs-project"),
        "nothing: names that hold secrets, or that other programs act on, are given to no plugin",
    ),
    (
        denied("address", "GET https://a.example.org:443", "net"),
        "an address in the public internet for that name; else only a version of zotero that asks for private ones",
    ),
    (denied("link"), "the file itself in that folder, in place of the link"),
    (denied("not-a-file"), "an ordinary file in its place"),
    (
        denied("no-project", kind="fs-project"),
        "nothing here: only a call about a project has one; its author has to make it one",
    ),
    (denied("place-unbound", "data:a/b:c", reason="not-granted"), FOLDER),
    (denied("folder-closed", "data:a"), f"{FOLDER}, with another folder"),
    (
        denied("folder-closed", "/etc/x"),
        "nothing here: no plugin is given that folder; a new version of zotero could ask for another",
    ),
    (
        denied("folder-closed", "~/x"),
        "nothing here: no plugin is given that folder; a new version of zotero could ask for another",
    ),
    (denied("folder-closed", "a", "fs-project"), "another project: no plugin is given this folder"),
    (denied("folder-gone", "data:a"), f"{FOLDER}, with one that is there"),
    (denied("folder-gone", "/srv/x/a"), "that folder, there and open to you"),
    (denied("folder-gone", "a", "fs-project"), "the project's folder, back there"),
    (
        denied("program-absent", "tex", "process", reason="not-granted"),
        "a program tex in /usr/local/bin, /usr/bin or /bin",
    ),
    (
        denied("program-missing", "tex", "process", reason="not-granted"),
        "a program tex on this machine, and then: yaz grant zotero process",
    ),
    (
        denied("program-changed", "tex", "process", reason="not-granted"),
        "yaz grant zotero process, if you trust the program as it is now",
    ),
    (
        denied("program-unfit", "tex", "process", reason="not-granted"),
        "yaz grant zotero process --command tex=FILE, with a file that only you can change",
    ),
    (
        denied("secret-bound", "api-key to b.example.org", "credential"),
        "yaz secret set zotero/api-key --host b.example.org, and --host for each other that it is for",
    ),
    (denied("own-code", reason="not-granted"), "nothing: its author has to use the service that is named above"),
    (denied("", reason="not-declared"), "only a new version of zotero: its manifest does not ask for this"),
    (denied("", reason="not-granted"), "yaz grant zotero fs-read"),
    (denied(""), "nothing here: it is beyond what zotero asks for; a new version could ask for it"),
    (denied("", detail="the queue is closed"), "nothing that yaz knows of; why it was refused is said above"),
    (denied("of a later yaz"), "nothing that yaz knows of; why it was refused is said above"),
    (denied("", reason="service-unavailable"), "nothing on this machine, as it is"),
    (denied("", reason="?"), "nothing"),
]


@pytest.mark.parametrize(("record", "sentence"), SENTENCES)
def test_a_denial_says_what_would_allow_it(record: Denied, sentence: str) -> None:
    assert remedy(record) == sentence


def test_every_cause_and_every_reason_has_its_sentence() -> None:
    assert set(BY_CAUSE) == set(get_args(Cause)) - {""} == {one.cause for one, _ in SENTENCES} - {"", "of a later yaz"}
    assert set(get_args(Reason)) < {one.reason for one, _ in SENTENCES}


def test_the_commands_that_are_named_are_commands_of_yaz() -> None:
    for _, sentence in SENTENCES:
        for command in re.findall(r"yaz ([^,]*)", sentence):
            if command.startswith("knows"):
                continue
            found: click.Command = yaz
            words = command.split()
            while isinstance(found, click.Group):
                context = click.Context(found)
                inner = found.get_command(context, words.pop(0))
                assert inner is not None, command
                found = inner
            options = {option for parameter in found.params for option in parameter.opts}
            assert {word for word in words if word.startswith("--")} <= options, command


def test_what_a_plugin_tried_makes_no_other_command_of_it() -> None:
    told = remedy(denied("unmarked-tool", "checker a; rm -rf ~", "mcp-client"))
    assert told == "yaz server mark checker 'a; rm -rf ~' --read, if you know that it only reads"
