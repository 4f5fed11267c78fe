"""The command `yaz`: one module a command group, no logic. Modules load when their command is run.

Exit status: 0 good, 1 found problems, 2 wrong use (design 9).
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import click

from yazcore import __version__

_COMMANDS = {
    "demo": ("yazcore.cli.demo", "See the whole story on sample data: serve, connect, compile, fix, search, cite."),
    "serve": ("yazcore.cli.serving", "Hold projects open and switch the MCP server on."),
    "bridge": ("yazcore.cli.bridging", "Be an MCP server on stdio, for clients that need one: the running yaz."),
    "connect": ("yazcore.cli.connecting", "Tell a client of yaz: Claude, VS Code, Cursor, Codex, the Inspector."),
    "status": ("yazcore.cli.serving", "Say whether yaz runs, and where."),
    "stop": ("yazcore.cli.serving", "Stop the running yaz."),
    "plugins": ("yazcore.cli.plugins", "List what is installed: state, runtime, tools."),
    "show": ("yazcore.cli.plugins", "Show one plugin: what it may do, what it adds, what is wrong with it."),
    "preview": ("yazcore.cli.preview", "Show what a plugin asks for and adds, before it is installed."),
    "diff": ("yazcore.cli.comparing", "Show what another version of a plugin asks for, adds, removes and changes."),
    "check": ("yazcore.cli.checking", "Check a plugin, or any server's tools: violations, differences, design rules."),
    "install": ("yazcore.cli.installing", "Install a plugin into a folder of its own, after you have seen what it is."),
    "uninstall": ("yazcore.cli.installing", "Remove a plugin that yaz install put there."),
    "rollback": ("yazcore.cli.installing", "Go back to the version of a plugin that was kept."),
    "manifest": ("yazcore.cli.manifest", "Write the part of a manifest that a plugin's code knows."),
    "registry": ("yazcore.cli.registry", "Make an index of plugins from wheels, or look for a plugin in one."),
    "new": ("yazcore.cli.authors", "Start a plugin from the template."),
    "tools": ("yazcore.cli.calls", "List the tools as an agent sees them."),
    "call": ("yazcore.cli.calls", "Call one tool."),
    "approve": ("yazcore.cli.approving", "Allow or refuse a call that waits for you."),
    "run": ("yazcore.cli.calls", "Run a plugin's command."),
    "log": ("yazcore.cli.calls", "Show the newest calls, or what a reference stands for."),
    "outline": ("yazcore.cli.projects", "Print a project's outline."),
    "compile": ("yazcore.cli.projects", "Compile a project."),
    "diagnostics": ("yazcore.cli.projects", "Compile a project and print every diagnostic."),
    "grant": ("yazcore.cli.consent", "Let a plugin run, with what it asks for."),
    "revoke": ("yazcore.cli.consent", "Take a grant back, or one capability of it."),
    "enable": ("yazcore.cli.consent", "Switch a plugin on."),
    "disable": ("yazcore.cli.consent", "Switch a plugin off; its grant is kept."),
    "set": ("yazcore.cli.settings", "Set what a plugin lets you choose, or mark its tools."),
    "token": ("yazcore.cli.tokens", "Name tokens for agents: what each may do, which tools it sees."),
    "doctor": ("yazcore.cli.doctor", "Say what is wrong with the installation, and how to mend it."),
    "denials": ("yazcore.cli.consent", "Show what a plugin tried and was refused."),
    "server": ("yazcore.cli.server", "Name MCP servers that plugins may call for you, and see what they offer."),
    "secret": ("yazcore.cli.secret", "Keep secrets that yaz sends for you; none is ever printed."),
}


_SHORT = frozenset({
    "plugins", "show", "preview", "diff", "registry", "doctor", "grant", "revoke", "enable", "disable", "denials",
    "status",
})  # fmt: skip
"""Commands that end before any garbage would matter: looking for it takes a fifth of all that they do."""


class _Lazy(click.Group):
    """A group whose commands are imported when they are named; help lines are known without it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(_COMMANDS[cmd_name][0])
        if cmd_name not in _SHORT:
            atexit.unregister(gc.freeze)
            gc.enable()
        attribute = cmd_name.replace("-", "_")
        if not hasattr(module, attribute):
            attribute += "_"  # where Python has that name itself
        command: click.Command = getattr(module, attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name not in _COMMANDS:
            import difflib

            near = difflib.get_close_matches(name, _COMMANDS, 1)
            ctx.fail(f"No such command {name!r}.{f' Did you mean {near[0]!r}?' if near else ''}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="yaz")
def yaz() -> None:
    """Writing projects that an agent opens, outlines, compiles and cites in; plugins that say what they do."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, the process's own where none is given, and exit."""
    # Before anything of mcp is imported: another distribution's `pydantic` entry point would run code here (trials 10).
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    _make_streams_fit()
    try:
        with _terminated_in_order(), _garbage_left_alone():
            status = yaz.main(arguments, prog_name="yaz", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001 - each is told in its own words, and what nobody knows is raised again
        sys.exit(_told(error))
    # click gives the status of `Exit`; a command returns nothing
    sys.exit(status if isinstance(status, int) else 0)


@contextlib.contextmanager
def _garbage_left_alone() -> Iterator[None]:
    """Look for no garbage, and for none at the end of the process either, as long as nobody switches that on again."""
    was_on = gc.isenabled()
    gc.disable()
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def _terminated_in_order() -> Iterator[None]:
    """Have SIGTERM end a command as Ctrl-C does: what it has begun is undone, and its children end with it."""

    def end(number: int, frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _told(error: BaseException) -> int:
    """Say what ended the command, and give the exit status. Raises again what is nobody's to expect."""
    from yazcore.cli.output import harmless
    from yazcore.violations import YazError, sentence

    match error:
        case SystemExit():
            raise error
        case click.exceptions.Abort() | KeyboardInterrupt():
            click.echo("yaz: stopped", err=True)
            return 130
        case click.ClickException():
            error.show()
            return error.exit_code
        case YazError():
            click.echo(f"yaz: {harmless(sentence(error))}", err=True)
            return 1
        case BrokenPipeError():
            # whoever read our output went away; nothing is wrong
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 1
        case OSError():
            where = f" ({error.filename})" if error.filename else ""
            click.echo(f"yaz: [system] {harmless(f'{error.strerror or error}{where}')}", err=True)
            return 1
        case BaseExceptionGroup() if (known := _known_in(error)) is not None:
            return _told(known)
    raise error


def _known_in(group: BaseExceptionGroup[Any]) -> BaseException | None:
    """Of what a task group raises, the one thing that can be told: a fault somebody foresaw before anything else."""
    from yazcore.violations import YazError

    for known in (YazError, BrokenPipeError, KeyboardInterrupt, OSError):
        found: BaseException | None = group.subgroup(known)
        while isinstance(found, BaseExceptionGroup):
            found = found.exceptions[0]
        if found is not None:
            return found
    return None


def _make_streams_fit() -> None:
    """What the terminal's encoding lacks is printed as an escape, and no file gets the number of a closed stream."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free
    # Python has none for a stream that is closed
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
