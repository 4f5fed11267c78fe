"""`yaz approve`: calls that wait for the user's yes."""

from __future__ import annotations

from typing import Any

import click

from yazcore.cli.output import columns, format_options, harmless, harmless_lines, print_json, say
from yazcore.control import Running, not_running, running
from yazcore.home import Home
from yazcore.violations import YazError


@click.command()
@click.argument("word", metavar="[ID]", required=False)
@click.option("--yes", "answer", flag_value="yes", help="Allow the call, without asking again.")
@click.option("--no", "answer", flag_value="no", help="Refuse the call.")
@format_options
def approve(word: str | None, answer: str | None, as_json: bool) -> None:
    """Allow or refuse the call that waits under ID; without ID, list those that wait.

    A tool waits for you where its plugin says so, or you do (yaz set). Without an answer in two minutes it is refused.
    """
    live = running(Home())
    if live is None:
        raise not_running()
    waiting: list[dict[str, Any]] = live.ask("approvals")
    if word is None:
        if answer is not None:
            raise click.UsageError("--yes and --no take an ID")
        _list(waiting, as_json)
        return
    found = next((one for one in waiting if one["id"] == word), None)
    if found is None:
        raise YazError("approval-unknown", f"no call waits under {word[:20]!r}", "yaz approve shows those that wait")
    if answer is None:
        for line in harmless_lines(found["question"]):
            click.echo(line, err=as_json)
        answer = "yes" if click.confirm("Allow it?", err=as_json) else "no"
    _answer(live, word, answer == "yes", as_json)


def _list(waiting: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json({"waiting": waiting})
    elif not waiting:
        say("no call waits for you")
    else:
        columns([(one["id"], one["principal"], one["tool"]) for one in waiting], ("ID", "WHO", "WANTS TO CALL"))


def _answer(live: Running, word: str, allow: bool, as_json: bool) -> None:
    done = live.ask("approve", id=word, allow=allow)
    if as_json:
        print_json(done)
    else:
        say(harmless(f"{done['tool']} was {'allowed' if done['allowed'] else 'refused'}"))
