"""How commands print: plain columns for lists, JSON for programs, text of others made harmless.

What a command has to say goes through `say` and `print_json`. A command that runs plugins calls `plugins_aside` before:
from then on, whatever a plugin or a child of one writes to standard output goes to standard error, so that it never
gets between the lines of a command, or into its JSON.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO

import click

_own: TextIO | None = None
"""Where the command prints while plugins are aside; None: standard output."""


def format_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options `--format text|json` and `--json`, its short form; the command gets `as_json`."""

    @click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="How to print.")
    @click.option("--json", "json_", is_flag=True, help="Short for --format json.")
    @functools.wraps(command)
    def run(*args: Any, format_: str, json_: bool, **kwargs: Any) -> Any:
        return command(*args, as_json=json_ or format_ == "json", **kwargs)

    return run


safe_mode_option = click.option("--safe-mode", is_flag=True, help="Leave installed plugins alone.")


def stream() -> TextIO:
    """Where this command prints."""
    return _own if _own is not None else sys.stdout


def say(text: str = "") -> None:
    """Print one line."""
    click.echo(text, file=stream())


def print_json(document: Any, *, indent: int | None = 2) -> None:
    """Print one JSON document, or with `indent` None one line of JSON.

    What a terminal would not show as itself is escaped as JSON escapes it, and everything beyond ASCII where the
    output has another encoding than UTF-8.
    """
    unicode = (getattr(stream(), "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    text = json.dumps(document, ensure_ascii=not unicode, indent=indent)
    say("\n".join(line if line.isprintable() else _escaped_as_json(line) for line in text.split("\n")))


def _escaped_as_json(line: str) -> str:
    return "".join(json.dumps(one)[1:-1] if unicodedata.category(one) in _HARMFUL else one for one in line)


def plugins_aside() -> None:
    """Keep standard output for this command alone, until it has ended; a plugin's own words go to standard error."""
    click.get_current_context().with_resource(_aside())


@contextlib.contextmanager
def _aside() -> Iterator[None]:
    global _own
    before, shown = _own, sys.stdout
    shown.flush()
    _own = _taken_from_children(shown) or shown
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # nobody reads any more
            _own.flush()
        _own, sys.stdout = before, shown


def _taken_from_children(shown: TextIO) -> TextIO | None:
    """A stream of our own to where `shown` leads; descriptor 1, which children get, leads to standard error then.

    None where `shown` is not the process's standard output: a test has put something in its place.
    """
    try:
        if shown.fileno() != 1:
            return None
    except (OSError, ValueError):
        return None
    own = os.dup(1)
    os.dup2(2, 1)
    return open(own, "w", encoding=shown.encoding, errors=shown.errors)


_HARMFUL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control, formatting (bidirectional marks among them), surrogate, private and unassigned characters, line breaks."""


def harmless(text: str) -> str:
    """Text from a plugin or a document with its control and bidirectional characters escaped: it can't forge a line."""
    if text.isprintable():
        return text
    return "".join(
        (f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}")
        if unicodedata.category(character) in _HARMFUL
        else character
        for character in text
    )


def harmless_lines(text: str) -> list[str]:
    """The lines of running text, each made harmless."""
    return [harmless(line) for line in text.splitlines()]


def columns(rows: Iterable[Sequence[str]], header: Sequence[str]) -> None:
    """Print rows as plain columns. A rich table of 300 rows costs 90 ms; this costs none (trials 4)."""
    table = [list(header), *([harmless(cell) for cell in row] for row in rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(header))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table)
    say("\n".join(lines))


def first_sentence(text: str) -> str:
    """What a list shows of a description: its first sentence, on one line."""
    line = " ".join(text.split())
    end = line.find(". ")
    return line if end < 0 else line[: end + 1]


def paragraph(label: str, text: str) -> None:
    """Print a label and running text beside it, line by line; wrapped where a terminal shows it."""
    import textwrap

    out = stream()
    width = _columns_of(out) if out.isatty() else None
    room = 0 if width is None else max(20, width - _LABEL)
    lines = [
        piece
        for line in harmless_lines(text) or [""]
        for piece in (textwrap.wrap(line, room, break_on_hyphens=False) if room else [line]) or [""]
    ]
    for line in lines:
        start = f"{label:<{_LABEL}}"
        say(((click.style(start, bold=True) if label else start) + line).rstrip())
        label = ""


_LABEL = 14


def _columns_of(out: TextIO) -> int:
    try:
        return os.get_terminal_size(out.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


class Waiting:
    """A line on standard error that says, while a person waits, what goes on; nothing where that is no terminal.

        with Waiting("compiling thesis") as waiting:
            ...                                     # waiting.report(done, total, message), from any thread
    """

    def __init__(self, what: str) -> None:
        import threading

        self._what = harmless(what)
        self._told = ""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def report(self, done: float, total: float | None, message: str) -> None:
        """How far it is: what `report` of the gate is told, by a plugin and in whatever way."""
        from yazcore.outcomes import progress_said

        if (said := progress_said(done, total, message)) is not None:
            done, total, message = said
            amount = f"{done:g} of {total:g}" if total else ""
            self._told = " ".join(part for part in (harmless(message), amount) if part)

    def __enter__(self) -> Waiting:
        import threading

        if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._thread = threading.Thread(target=self._draw, args=(sys.stderr,), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to whoever shows or asks something meanwhile."""
        self.__exit__()
        try:
            yield
        finally:
            self._over.clear()
            self.__enter__()

    def _draw(self, out: TextIO) -> None:
        import time

        begun, drawn = time.monotonic(), False
        with contextlib.suppress(OSError, ValueError):
            while not self._over.wait(_DRAW_SECONDS):
                told = f": {self._told}" if self._told else ""
                line = f"{self._what}{told} ({time.monotonic() - begun:.0f} s)"
                out.write(f"\r\x1b[2K{line[: _columns_of(out) - 1]}")
                out.flush()
                drawn = True
            if drawn:
                out.write("\r\x1b[2K")
                out.flush()


_DRAW_SECONDS = 0.5
