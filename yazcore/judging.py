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
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.surface import Surface
from yazcore.design_rules.view import View
from yazcore.design_rules.waivers import MOST_BYTES as MOST_OF_WAIVERS
from yazcore.design_rules.waivers import Waivers, read_waivers
from yazcore.home import Home
from yazcore.manifest.targets import open_target
from yazcore.violations import YazError


def is_listing(target: str) -> bool:
    """Whether a target names a file with a server's lists: a JSON file, be it there or not."""
    return target.endswith(".json") and not Path(target).is_dir()


def check_listing(
    file: Path, selection: Selection, *, before: Surface | None = None, waivers: Waivers | None = None
) -> Report:
    """Judge the tools, resources and prompts of a server, as a file has its lists. Nothing is run.

    Raises `YazError`: `target-unknown` where there is no such file, `listing-unreadable` where it holds no list.
    """
    document, text = parse(_bytes_of(file))
    outcome = judge(View(read(document), before), selection, waivers=waivers, text=text)
    return Report(findings=outcome.findings, waived=outcome.waived, file=file.name)


SERVER_SECONDS = 60.0
"""How long a server may take to say what it offers, in seconds."""


def check_server(
    name: str, home: Home, selection: Selection, *, before: Surface | None = None, waivers: Waivers | None = None,
    seconds: float = SERVER_SECONDS,
) -> Report:  # fmt: skip
    """Judge what a running MCP server offers, one that the user's settings name.

    It is connected to, its lists are read, and nothing else is asked of it. Raises `YazError` as
    `yazcore.mcp.client.server_surface` does: for a server that is not there, hangs, lies about its pages, or answers
    what is none.
    """
    outcome = judge(View(surface_of_server(name, home, seconds), before), selection, waivers=waivers)
    return Report(findings=outcome.findings, waived=outcome.waived, file="")


def surface_of_server(name: str, home: Home, seconds: float = SERVER_SECONDS) -> Surface:
    """What a running MCP server offers. Raises `YazError` as `check_server` does."""
    from yazcore.mcp.client import server_surface

    offered = server_surface(home, name, seconds)
    return read(
        {
            "tools": offered["tools"], "resources": offered["resources"], "resourceTemplates": offered["templates"],
            "prompts": offered["prompts"],
        }
    )  # fmt: skip


def waivers_in(file: Path) -> Waivers:
    """The waivers in a file, for what has no folder of its own. Raises `YazError` as reading any file here does."""
    return read_waivers(_bytes_of(file, MOST_OF_WAIVERS), RULES)


def review_of(
    target: str, contract: Contract, selection: Selection, *, shipped: Sequence[Path] = (), extra: Sequence[Path] = ()
) -> tuple[Item, ...]:
    """What a reviewer has to answer about a plugin or a list, with what is known of it. Nothing is run.

    Raises `YazError` as `surface_before` does.
    """
    if is_listing(target):
        return review(View(read(parse(_bytes_of(Path(target)))[0])), selection)
    case = case_of_target(open_target(target, contract, shipped=shipped, extra=extra), contract)
    if case is None:
        raise YazError("target-without-manifest", f"{target!r} holds no manifest that could be read", "give a plugin")
    return review(case.view, selection)


def surface_before(
    target: str | None, contract: Contract, *, shipped: Sequence[Path] = (), extra: Sequence[Path] = ()
) -> Surface | None:
    """The surface of the last release: of a wheel, a folder, an installed or a shipped id, or a file with a server's
    lists. `shipped` and `extra` are as `open_target` takes them.

    Raises `YazError` as `open_target` does, `listing-unreadable`, and `target-without-manifest` where there is nothing
    to hold anything against.
    """
    if target is None:
        return None
    if is_listing(target):
        return read(parse(_bytes_of(Path(target)))[0])
    found = open_target(target, contract, shipped=shipped, extra=extra)
    surface = plugin_surface(found.reading.document, found.texts, contract)
    if surface is None:
        raise YazError("target-without-manifest", f"{target!r} holds no manifest that could be read", "give a release")
    return surface


def _bytes_of(file: Path, most: int = MOST_BYTES) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read(most + 1)
    except FileNotFoundError:
        raise YazError(
            "target-unknown", f"there is no file {file.name!r}",
            "give a JSON file with a server's lists, as its answer to tools/list, or a plugin",
        ) from None  # fmt: skip
    except OSError as error:
        raise YazError(
            "listing-unreadable", f"{file.name!r} cannot be read ({error.strerror})", "give a file that you may read"
        ) from None
