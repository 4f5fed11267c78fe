"""The design rules for what is no plugin: a file with a server's lists, a server that runs; and what a surface was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from yazcore.check import Report
from yazcore.contract import Contract
from yazcore.design_rules.documents import MOST_BYTES, parse, read
from yazcore.design_rules.engine import Selection, judge
from yazcore.design_rules.plugins import case_of_target, plugin_surface
from yazcore.design_rules.review import Item, review
from yazcore.design_rules.surface import Surface
from yazcore.design_rules.view import View
from yazcore.home import Home
from yazcore.manifest.targets import open_target
from yazcore.violations import YazError


def check_listing(file: Path, selection: Selection, *, before: Surface | None = None) -> Report:
    """Judge the tools, resources and prompts of a server, as a file has its lists. Nothing is run.

    Raises `YazError` `listing-unreadable`.
    """
    document, text = parse(_bytes_of(file))
    outcome = judge(View(read(document), before), selection, text=text)
    return Report(findings=outcome.findings, waived=outcome.waived, file=file.name)


SERVER_SECONDS = 60.0
"""How long a server may take to say what it offers, in seconds."""


def check_server(
    name: str, home: Home, selection: Selection, *, before: Surface | None = None, seconds: float = SERVER_SECONDS
) -> Report:
    """Judge what a running MCP server offers, one that the user's settings name.

    It is connected to, its lists are read, and nothing else is asked of it. Raises `YazError` as
    `yazcore.mcp.client.server_surface` does: for a server that is not there, hangs, lies about its pages, or answers
    what is none.
    """
    from yazcore.mcp.client import server_surface

    offered = server_surface(home, name, seconds)
    document = {
        "tools": offered["tools"], "resources": offered["resources"], "resourceTemplates": offered["templates"],
        "prompts": offered["prompts"],
    }  # fmt: skip
    outcome = judge(View(read(document), before), selection)
    return Report(findings=outcome.findings, waived=outcome.waived, file="")


def review_of(
    target: str, contract: Contract, selection: Selection, *, shipped: Sequence[Path] = ()
) -> tuple[Item, ...]:
    """What a reviewer has to answer about a plugin or a list, with what is known of it. Nothing is run.

    Raises `YazError` as `surface_before` does.
    """
    if target.endswith(".json") and Path(target).is_file():
        return review(View(read(parse(_bytes_of(Path(target)))[0])), selection)
    case = case_of_target(open_target(target, contract, shipped=shipped), contract)
    if case is None:
        raise YazError("target-without-manifest", f"{target!r} holds no manifest that could be read", "give a plugin")
    return review(case.view, selection)


def surface_before(target: str | None, contract: Contract) -> Surface | None:
    """The surface of the last release: of a wheel, a folder, an installed id, or a file with a server's lists.

    Raises `YazError` as `open_target` does, `listing-unreadable`, and `target-without-manifest` where there is nothing
    to hold anything against.
    """
    if target is None:
        return None
    if target.endswith(".json") and Path(target).is_file():
        return read(parse(_bytes_of(Path(target)))[0])
    found = open_target(target, contract)
    surface = plugin_surface(found.reading.document, found.texts, contract)
    if surface is None:
        raise YazError("target-without-manifest", f"{target!r} holds no manifest that could be read", "give a release")
    return surface


def _bytes_of(file: Path) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise YazError(
            "listing-unreadable", f"this is no list of tools: it cannot be read ({error.strerror})",
            "give a file that you may read",
        ) from None  # fmt: skip
