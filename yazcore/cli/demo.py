"""`yaz demo`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from yazcore.cli.output import harmless, plugins_aside, say, stream


@click.command()
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), help="Play in this new folder, and leave it there."
)
def demo(keep: Path | None) -> None:
    """See the whole story on sample data: serve, connect as an MCP client, outline, compile, fix, search, cite."""
    plugins_aside()
    if keep is not None:
        if keep.exists() and any(keep.iterdir()):
            raise click.BadParameter(f"{keep} is not empty", param_hint="--keep")
        pdf = _play(keep)
        say(f"Everything held. The thesis: {pdf}")
        return
    with tempfile.TemporaryDirectory(prefix="yaz-demo-") as folder:
        _play(Path(folder))
    say("Everything held. With --keep FOLDER the thesis and its PDF stay for you to look at.")


def _play(folder: Path) -> Path:
    import anyio
    from rich.console import Console
    from rich.text import Text

    from yazcore.writing.demo import run_demo

    console = Console(file=stream(), highlight=False)
    number = 0

    def show(step: str, result: str) -> None:
        nonlocal number
        number += 1
        line = Text(f"{number:>2}  ").append(f"{step:<18}", style="bold cyan").append(harmless(result))
        console.print(line, soft_wrap=True)

    return anyio.run(run_demo, folder, show)
