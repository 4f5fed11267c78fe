"""`yaz token`: named tokens for agents, and what each may do (design 7, 9).

They lie in `tokens.json`, as digests, and a running yaz looks there on each request: what is decided here counts from
the next request on.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import click

from yazcore.cli.output import columns, format_options, harmless, print_json, say
from yazcore.control import running
from yazcore.home import Home
from yazcore.permissions import PermissionGrant
from yazcore.permissions.tokens import Token, Tokens
from yazcore.permissions.words import grant_word, read_grant
from yazcore.writing.contract import YAZ

_DAY = 86_400.0


def _grants(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> tuple[PermissionGrant, ...]:
    return tuple(read_grant(word, YAZ.scope_kinds) for word in words)


_name = click.argument("name")
_given = click.argument("grants", metavar="PERMISSION[@SCOPE]...", nargs=-1, required=True, callback=_grants)


@click.group()
def token() -> None:
    """Name tokens for agents, beside the one that each start of yaz makes for you.

    PERMISSION is one that a plugin declares, as in yaz:read, or zotero:* for all of one plugin. With @project it counts
    in every project, with @prj_… in one; without, everywhere.
    """


@token.command("create")
@_name
@click.option(
    "--grant", "grants", metavar="PERMISSION[@SCOPE]", multiple=True, callback=_grants, help="What it may do."
)
@click.option("--tool", "tools", metavar="NAME", multiple=True, help="Only these tools are there for it.")
@click.option("--read-only", is_flag=True, help="No tool that changes anything is there for it.")
@click.option("--days", type=click.IntRange(1, 3650), help="How long it is good; without, until it is revoked.")
@format_options
def create(
    name: str, grants: tuple[PermissionGrant, ...], tools: tuple[str, ...], read_only: bool, days: int | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Make a token under NAME, and print it: this once, since only its digest is kept."""
    home = Home()
    tokens = Tokens(home)
    text = tokens.create(
        name, grants, tools=tools or None, read_only=read_only, seconds=None if days is None else days * _DAY
    )
    _tell(home, tokens.get(name), text, as_json)


@token.command("renew")
@_name
@format_options
def renew(name: str, as_json: bool) -> None:
    """Make a new secret for a token, and print it; the old one is dead from now on."""
    home = Home()
    tokens = Tokens(home)
    text = tokens.renew(name)
    _tell(home, tokens.get(name), text, as_json)


@token.command("list")
@format_options
def list_(as_json: bool) -> None:
    """List the named tokens, and what each may do; none is printed."""
    kept = Tokens(Home()).all()
    if as_json:
        print_json({"tokens": [one.as_json() for one in kept]})
        return
    if not kept:
        say("there is no named token; yaz token create NAME makes one")
        return
    columns(
        [(one.name, _good_until(one), _may(one), _sees(one)) for one in kept], ("NAME", "GOOD UNTIL", "MAY", "SEES")
    )


@token.command("permissions")
@format_options
def permissions(as_json: bool) -> None:
    """List the permissions that can be granted."""
    home = Home()
    live, known = _known(home)
    if as_json:
        print_json({"live": live, "permissions": known})
        return
    columns([(one["permission"], one["description"]) for one in known], ("PERMISSION", "ALLOWS"))


@token.command("grant")
@_name
@_given
@format_options
def grant(name: str, grants: tuple[PermissionGrant, ...], as_json: bool) -> None:
    """Let a token do more; it counts from its next request on."""
    home = Home()
    _tell(home, Tokens(home).grant(name, grants), None, as_json)


@token.command("ungrant")
@_name
@_given
@format_options
def ungrant(name: str, grants: tuple[PermissionGrant, ...], as_json: bool) -> None:
    """Take back what a token was granted, each as it was given; it counts from its next request on."""
    home = Home()
    _tell(home, Tokens(home).withdraw(name, grants), None, as_json)


@token.command("revoke")
@_name
@format_options
def revoke(name: str, as_json: bool) -> None:
    """Make a token dead, for good; it opens nothing from the next request on."""
    Tokens(Home()).revoke(name)
    if as_json:
        print_json({"name": name, "revoked": True})
        return
    say(harmless(f"{name} is revoked"))


def _tell(home: Home, kept: Token, text: str | None, as_json: bool) -> None:
    """Say how a token stands after a decision, its secret where it is new, and what of it grants nothing now."""
    live, known = _known(home)
    unknown = _unknown(kept.grants, [one["permission"] for one in known])
    if as_json:
        secret = {} if text is None else {"token": text}
        print_json({"live": live, **kept.as_json(), **secret, "unknown": [word for word, _ in unknown]})
        return
    if text is not None:
        say(text)
        click.echo("This is the token. It is shown this once; keep it where only you can read it.", err=True)
    stands = f"{kept.name} may {_may(kept)}; sees {_sees(kept)}; good until {_good_until(kept)}"
    click.echo(harmless(stands), err=True) if text is not None else say(harmless(stands))
    for word, near in unknown:
        hint = f"; did you mean {near}?" if near else ""
        click.echo(f"note: no plugin declares {word}, so it grants nothing until one does{hint}", err=True)


def _known(home: Home) -> tuple[bool, list[dict[str, Any]]]:
    """Whether yaz runs, and which permissions there are: of what is active, or of what may become so."""
    if (live := running(home)) is not None:
        known: list[dict[str, Any]] = live.ask("permissions")
        return True, known
    from yazcore.cli.plugins import look
    from yazcore.manifest.messages import Messages

    found = []
    for one in look(home)[0]:
        if one.manifest is not None and one.state == "allowed":
            texts = Messages(one.manifest.locales_in(one.folder), "en-US")
            found += [
                {"permission": declared.action, "plugin": one.id, "description": texts.text(declared.description_key)}
                for declared in one.manifest.permissions
            ]
    return False, sorted(found, key=lambda one: one["permission"])


def _unknown(grants: Iterable[PermissionGrant], known: list[str]) -> list[tuple[str, str | None]]:
    """The permissions that none of the `known` is named by, each with one that looks like it."""
    return [
        (one.permission, next(iter(difflib.get_close_matches(one.permission, known, 1)), None))
        for one in grants
        if not any(one.names(action) for action in known)
    ]


def _may(kept: Token) -> str:
    return ", ".join(map(grant_word, kept.grants)) or "look around"


def _sees(kept: Token) -> str:
    which = "every tool" if kept.tools is None else ", ".join(kept.tools)
    return f"{which}, reading only" if kept.read_only else which


def _good_until(kept: Token) -> str:
    if kept.expires is None:
        return "revoked"
    return f"{kept.expires} (over)" if kept.is_over(datetime.now(UTC).timestamp()) else kept.expires
