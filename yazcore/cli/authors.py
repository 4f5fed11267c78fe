"""`yaz new`: a plugin from the template."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import click

import yazcore
from yazcore.manifest.reading import read
from yazcore.violations import Violation, YazError, sentence
from yazcore.writing.contract import YAZ

_TEMPLATE_MARKS = ("{{", "{%", "{#")


@click.command()
@click.option("--id", "plugin_id", help="The plugin's id: a-z, 0-9 and single hyphens, at most 24 characters.")
@click.option("--name", help="Its name, as people read it.")
@click.option("--author", help="Its author.")
@click.option("--description", help="What it does, in one sentence.")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), default=Path(), metavar="DIR",
    help="Where the project's folder is made; here if it is not said.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="Do not ask; name and description follow from the id.")
def new(
    plugin_id: str | None, name: str | None, author: str | None, description: str | None, output: Path, yes: bool
) -> None:
    """Start a plugin from the template: a project whose tests pass, to be changed into what you want."""
    bake = _baker()
    plugin_id = _answer("id", plugin_id, "The plugin's id (a-z, 0-9, single hyphens)", None, yes)
    title = plugin_id.replace("-", " ").capitalize()
    name = _answer("name", name, "Its name, as people read it", title, yes)
    author = _answer("author", author, "Its author", None, yes)
    description = _answer("description", description, "What it does, in one sentence", f"{title} for yaz.", yes)
    folder = output / f"yaz-plugin-{plugin_id}"
    if folder.exists() or folder.is_symlink():
        raise YazError("folder-exists", f"{folder.name} is there already", "choose another id, or another --output")
    bake({"plugin_id": plugin_id, "name": name, "author": author, "description": description}, output)
    click.echo(f"made {folder}")
    click.echo("\nnext:")
    click.echo(f"  cd {folder}")
    for line in ("pip install -e '.[test]'", "pytest", "yaz check .", f"yaz grant {plugin_id}"):
        click.echo(f"  {line}")


def _answer(key: str, given: str | None, question: str, default: str | None, yes: bool) -> str:
    """An answer that the manifest may have: the option's, the default, or what is asked for until it is good."""
    if given is None and yes:
        if default is None:
            raise click.UsageError(f"--yes asks nothing, so --{key} is needed")
        given = default
    if given is not None:
        if problem := _problem(key, given):
            raise YazError(problem.code, problem.message, problem.fix)
        return given
    while True:
        answer: str = click.prompt(question, default=default)
        problem = _problem(key, answer)
        if problem is None:
            return answer
        click.echo(sentence(problem))


def _problem(key: str, answer: str) -> Violation | None:
    """What reading a manifest with this answer would say about it, and what a line of a file cannot hold."""
    good = {"id": "good", "name": "Good", "author": "Good", "description": "Good."}
    manifest = {
        "contract": YAZ.number, "version": "0.1.0", "minAppVersion": "0.1.0", "module": "good.plugin:Plugin",
        **good, key: answer,
    }  # fmt: skip
    for violation in read(json.dumps(manifest).encode(), YAZ).violations:
        return violation
    if any(mark in answer for mark in _TEMPLATE_MARKS):
        fix = f"leave out {', '.join(_TEMPLATE_MARKS)}: the template would take it for its own"
        return Violation("text-template", f"{key} holds a mark of the template's language", fix)
    if not answer.isprintable():
        return Violation("text-unprintable", f"{key} is not one line of visible characters", "write it on one line")
    return None


def _baker() -> Callable[[Mapping[str, str], Path], None]:
    """What makes the project. Raises `YazError` `cookiecutter-missing` before anything is asked."""
    try:
        from cookiecutter.exceptions import CookiecutterException
        from cookiecutter.main import cookiecutter
    except ImportError:
        raise YazError(
            "cookiecutter-missing", "yaz new needs cookiecutter, which is not installed",
            "pip install 'yazcore[template]'",
        ) from None  # fmt: skip

    def bake(answers: Mapping[str, str], output: Path) -> None:
        # cookiecutter keeps the answers of every run, and clones, below the user's home unless it is told where
        with tempfile.TemporaryDirectory(prefix="yaz-new-") as scratch:
            try:
                cookiecutter(
                    str(_template()),
                    no_input=True,
                    extra_context=dict(answers),
                    output_dir=str(output),
                    default_config={"replay_dir": scratch, "cookiecutters_dir": scratch},
                )
            except CookiecutterException as error:
                raise YazError("template-failed", f"the project could not be made: {error}") from None

    return bake


def _template() -> Path:
    """The template: inside the wheel, or beside the package in a checkout."""
    package = Path(yazcore.__file__).parent
    found = next(
        (path for path in (package / "_template", package.parent / "yaz_plugin_template") if path.is_dir()), None
    )
    if found is None:
        raise YazError("template-missing", "yazcore was installed without its template", "install it again")
    return found
