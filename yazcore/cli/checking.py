"""`yaz check`: everything that can be said of a plugin, or of the tools of any MCP server, for authors and CI."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from yazcore.cli.output import harmless, print_json
from yazcore.cli.own_folders import own_folders
from yazcore.violations import sentence
from yazcore.writing.contract import SHIPPED, YAZ

if TYPE_CHECKING:
    from yazcore.check import Report
    from yazcore.design_rules.engine import Selection
    from yazcore.design_rules.review import Item
    from yazcore.design_rules.rule import Finding

_FORMATS = ("text", "json", "sarif")


@click.command()
@click.argument("target", required=False)
@click.option("--mcp", "server", metavar="NAME", help="Judge this running MCP server of your settings instead.")
@click.option("--static", is_flag=True, help="Run nothing of the plugin; differences are not looked for.")
@click.option("--select", multiple=True, metavar="RULES", help="Run these design rules only, as in G25,G27.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Leave these design rules out.")
@click.option("--strict", is_flag=True, help="Exit 1 for suspicions, too.")
@click.option("--since", metavar="OLD", help="Hold names and texts against a release before.")
@click.option(
    "--waivers", "waiver_file", metavar="FILE", help="Findings that are accepted in a list or of a server; as TOML."
)
@click.option("--review", is_flag=True, help="Print what a reviewer has to answer, and what is known of it.")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", help="How to print.")
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
def check(
    target: str | None, server: str | None, static: bool, select: Sequence[str], ignore: Sequence[str], strict: bool,
    since: str | None, waiver_file: str | None, review: bool, form: str, as_json: bool,
) -> None:  # fmt: skip
    """Check TARGET: a plugin's folder (its package, or the project that holds it), its wheel or sdist, an installed id,
    or a JSON file with the tools/list of any MCP server. With --mcp NAME a server that yaz server add has named is
    connected to and judged.

    Finds what a manifest breaks, where the plugin's code registers something else than it declares, and what the
    design rules say of its tools, resources and prompts. The second runs the plugin's code, with all of your own
    rights, unless --static is given. Exit status 1 where yaz would refuse the plugin, or a design rule finds an error.
    """
    from yazcore.design_rules.engine import chosen
    from yazcore.design_rules.rules import RULES
    from yazcore.judging import check_listing, check_server, is_listing, surface_before, waivers_in

    if (target is None) is (server is None):
        raise click.UsageError("give one of TARGET and --mcp NAME")
    selection = chosen(RULES, _names(select), _names(ignore))
    if review:
        if form == "sarif":
            raise click.UsageError("a review is no list of findings: give --format text or json")
        _print_review(_reviewed(target, server, selection), as_json or form == "json")
        return
    is_plugin = target is not None and not is_listing(target)
    if is_plugin and waiver_file is not None:
        raise click.UsageError("--waivers is for a list or a server; a plugin's stand beside its manifest")
    waivers = None if waiver_file is None else waivers_in(Path(waiver_file))
    # What the plugin prints while it is imported must not get between the lines of a report.
    with contextlib.redirect_stdout(sys.stderr):
        before = surface_before(since, YAZ, shipped=SHIPPED, extra=() if since is None else own_folders(since))
        if target is None:
            from yazcore.home import Home

            report = check_server(server or "", Home(), selection, before=before, waivers=waivers)
        elif not is_plugin:
            report = check_listing(Path(target), selection, before=before, waivers=waivers)
        else:
            from yazcore.check import check_target

            report = check_target(
                target, YAZ, shipped=SHIPPED, static=static, selection=selection, before=before,
                extra=own_folders(target),
            )  # fmt: skip
    if as_json or form == "json":
        print_json(report.as_json())
    elif form == "sarif":
        from yazcore.design_rules.sarif import log

        print_json(log(report, RULES, _place(target or "", report.file)))
    else:
        _print(report, static)
    if report.refuses or any(one.severity == "error" or strict for one in report.findings):
        raise click.exceptions.Exit(1)


def _names(given: Sequence[str]) -> list[str]:
    """The rules that an option names, which may be given again, and may hold several."""
    return [name for one in given for part in one.split(",") if (name := part.strip())]


def _reviewed(target: str | None, server: str | None, selection: Selection) -> Sequence[Item]:
    """What a reviewer has to answer of a plugin, a list or a server."""
    from yazcore.judging import review_of, surface_of_server

    if target is not None:
        return review_of(target, YAZ, selection, shipped=SHIPPED, extra=own_folders(target))
    from yazcore.design_rules.review import review
    from yazcore.design_rules.view import View
    from yazcore.home import Home

    return review(View(surface_of_server(server or "", Home())), selection)


def _place(target: str, file: str) -> str:
    """The file that positions count in, relative to here where it lies here, else to what was named."""
    path = Path(target)
    if target and path.is_dir() and not path.is_absolute() and ".." not in path.parts:
        return (path / file).as_posix()
    return file


def _print(report: Report, static: bool) -> None:
    for violation in report.violations:
        click.echo(harmless(f"{violation.severity}: {sentence(violation)}"))
    for difference in report.differences:
        click.echo(harmless(f"difference: {sentence(difference)}"))
    for finding in report.findings:
        click.echo(harmless(_line(finding)))
    if report.trace:
        click.echo("\n".join(map(harmless, report.trace.splitlines())), err=True)
    parts = [_count(report.violations, "violation"), _count(report.differences, "difference")]
    if static:
        parts[1] += " (not looked for)"
    parts.append(_count(report.findings, "finding"))
    if report.waived:
        parts[2] += f" ({len(report.waived)} waived)"
    click.echo(", ".join(parts))


def _line(finding: Finding) -> str:
    place = f"{finding.line}:{finding.column} " if finding.line is not None else ""
    return f"{finding.severity}: {place}{finding.subject} [{finding.rule}] {finding.message}. {finding.change}"


def _print_review(items: Sequence[Item], as_json: bool) -> None:
    if as_json:
        print_json([one.as_json() for one in items])
        return
    for one in items:
        click.echo(harmless(f"{one.key}: {one.asks}"))
        if one.answer is not None:
            click.echo(harmless(f"  answered: {' '.join(one.answer.split())}"))
        else:
            click.echo("  open")
            for line in one.also:
                click.echo(f"  ask also: {line}")
        for line in one.knows:
            click.echo(harmless(f"  known: {line}"))
        for line in one.found:
            click.echo(harmless(f"  look at: {line}"))
    open_ones = sum(one.answer is None for one in items)
    click.echo(f"{open_ones or 'nothing'} of {len(items)} open")


def _count(faults: Sequence[object], what: str) -> str:
    return f"{len(faults) or 'no'} {what}{'' if len(faults) == 1 else 's'}"
