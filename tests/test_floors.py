"""The house of design 3: which room may import which, read from the source, and what an import costs, measured."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import attrs
import pytest

import yazcore
from tests.cli.commands import DEMO, Shell, install, install_zotero, shell

PACKAGE = Path(yazcore.__file__).parent
CHECKOUT = PACKAGE.parent

FLOORS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (
        1,
        (
            "process_groups", "children", "trees", "confinement", "uri_templates", "listeners", "violations", "home",
            "marks", "declarations", "parts", "contributions", "paging", "hookspecs", "kinds", "permissions",
            "contract",
        ),
    ),
    (2, ("manifest", "design_rules")),
    (3, ("capabilities", "catalogue", "results", "outcomes", "audit", "plugin_status", "plugin_folders", "typed")),
    (4, ("runtimes",)),
    (
        5,
        (
            "departures", "differences", "installed", "plugin_context", "activation", "asking", "granting", "first_use",
            "gate", "user_settings",
        ),
    ),
    (
        6,
        (
            "clients", "control", "mcp", "host", "check", "judging", "install", "doctor", "registry", "serving",
            "syncing",
        ),
    ),
    (7, ("writing",)),
    (8, ("testing",)),
    (9, ("cli",)),
)  # fmt: skip
"""Every room, by floor. In floor 1 a room imports from its left; in the others `BESIDE` says what it may import."""

FLOOR_OF = {room: floor for floor, rooms in FLOORS for room in rooms}
ORDER = [room for _, rooms in FLOORS for room in rooms]

BESIDE = {
    ("design_rules", "manifest"),
    ("activation", "differences"),
    ("doctor", "install"),
    ("asking", "activation"),
    ("asking", "differences"),
    ("asking", "plugin_context"),
    ("first_use", "granting"),
    ("first_use", "installed"),
    ("granting", "installed"),
    ("host", "mcp"),
    ("serving", "control"),
    ("serving", "host"),
    ("serving", "mcp"),
    ("judging", "check"),
    ("judging", "mcp"),
    ("syncing", "check"),
}
"""What a room may import from its own floor above the first; each goes from right to left, so there is no circle."""


@attrs.frozen
class Import:
    """One import: where it stands, the module it names, and the name it takes from it, if any."""

    where: str
    room: str
    module: str
    name: str | None


def imports(folder: Path) -> Iterator[Import]:
    """Every import below a folder, at module level and inside functions alike; those for type checkers apart."""
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        room = relative.parts[0].removesuffix(".py")
        tree = ast.parse(path.read_bytes())
        for_types = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
            for statement in node.body
            for inner in ast.walk(statement)
        }
        for node in ast.walk(tree):
            where = f"{folder.name}/{relative.as_posix()}:{getattr(node, 'lineno', 0)}"
            if id(node) in for_types:
                continue
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(where, room, alias.name, None)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{where}: write the whole name: relative imports hide the room"
                for alias in node.names:
                    yield Import(where, room, node.module or "", alias.name)


def room_of(imported: Import) -> str | None:
    """The room of yazcore that is imported; None for what is not of yazcore, or is only its version."""
    parts = imported.module.split(".")
    if parts[0] != "yazcore":
        return None
    if len(parts) > 1:
        return parts[1]
    if imported.name is None or imported.name == "__version__":
        return None
    home = yazcore._HOME_OF.get(imported.name)
    return imported.name if home is None else home.split(".")[1]


def test_every_room_has_a_floor() -> None:
    rooms = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert rooms - {"__init__", "__pycache__", "_template"} - set(FLOOR_OF) == set()


def test_rooms_import_from_below_and_in_the_first_floor_from_the_left() -> None:
    wrong = []
    for one in imports(PACKAGE):
        target = room_of(one)
        if one.room == "__init__" or target is None or target == one.room:
            continue
        above, below = FLOOR_OF[one.room], FLOOR_OF[target]
        fits = (
            below < above
            or (above == below == 1 and ORDER.index(target) < ORDER.index(one.room))
            or (one.room, target) in BESIDE
        )
        if not fits:
            wrong.append(f"{one.where}: {one.room} (floor {above}) imports {target} (floor {below})")
    assert wrong == []


def test_what_stands_beside_goes_one_way_and_is_used() -> None:
    used = {(one.room, room_of(one)) for one in imports(PACKAGE)}
    assert used >= BESIDE
    for room, target in BESIDE:
        assert FLOOR_OF[room] == FLOOR_OF[target]
        assert ORDER.index(target) < ORDER.index(room)


@pytest.mark.parametrize("folder", [PACKAGE / "writing", CHECKOUT / "yaz_plugin_zotero" / "yaz_plugin_zotero"])
def test_writing_and_plugins_use_the_public_names_alone(folder: Path) -> None:
    own = "yazcore.writing" if folder.name == "writing" else folder.name
    wrong = [
        f"{one.where}: {one.module} {one.name or ''}"
        for one in imports(folder)
        if one.module.split(".")[0] == "yazcore"
        and one.module != own
        and not one.module.startswith(f"{own}.")
        and not (one.module == "yazcore" and one.name in yazcore.__all__)
    ]
    assert wrong == []


def loaded(code: str, home: Path, *arguments: str, more: Mapping[str, str] = MappingProxyType({})) -> set[str]:
    """The modules that a fresh interpreter loads for some code, as `-X importtime` tells; `more` is environment."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home), "YAZ_HOME": str(home / "yaz"), "PYTHONPATH": str(CHECKOUT),
        **more,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code, *arguments],
        capture_output=True, text=True, env=environment, check=True, cwd=home,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def packages(modules: set[str], *names: str) -> set[str]:
    """Which of these packages were loaded."""
    return {name for name in names if any(one == name or one.startswith(f"{name}.") for one in modules)}


HEAVY = ("mcp", "pydantic", "keyring", "fluent", "jsonschema", "filelock", "asyncio", "rich")


def test_importing_yazcore_loads_no_room_and_nothing_heavy(tmp_path: Path) -> None:
    modules = loaded("import yazcore", tmp_path)
    assert "yazcore" in modules
    assert {one for one in modules if one.startswith("yazcore.")} == set()
    assert packages(modules, *HEAVY, "attr", "pluggy", "click") == set()


COSTLY = (
    *HEAVY, "importlib.metadata", "importlib_metadata", "anyio", "msgspec", "babel", "idna", "http", "ssl", "logging",
    "tempfile", "random", "hashlib", "difflib", "csv", "email", "zipfile", "tomllib", "subprocess",
    "yazcore.host", "yazcore.granting", "yazcore.activation", "yazcore.catalogue", "yazcore.gate", "yazcore.runtimes",
    "yazcore.mcp", "yazcore.serving", "yazcore.parts", "yazcore.design_rules", "yazcore.manifest.comparison",
    "yazcore.manifest.checking", "yazcore.manifest.schemas", "yazcore.manifest.preview", "yazcore.manifest.packed",
    "yazcore.writing.application", "yazcore.writing.projects", "yazcore.writing.plugins",
)  # fmt: skip
"""What no listing loads: whole rooms, other people's libraries, and what is small but brings others along."""

LISTINGS = [
    ("plugins",), ("plugins", "--json"), ("show", "typst", "--json"), ("show", "zotero", "--json"),
    ("denials", "typst"), ("denials", "demo"), ("--help",),
]  # fmt: skip

PAGES = [
    ("show", "typst"), ("show", "demo"), ("show", "zotero"), ("preview", "typst"), ("preview", "zotero"),
    ("diff", "typst", "typst"),
]  # fmt: skip
"""What reads texts, too, and may draw."""

YAZ_COMMAND = "from yazcore.cli import main; main()"


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """Installed plugins of which none is granted: each needs a word of the user, or of its author."""
    with shell(tmp_path_factory.mktemp("waiting") / "shell") as made:
        install(made.site, **DEMO)
        install(made.site, "broken", provides={}, permissions=None, description=None)
        install_zotero(made.site)
        states = {one["id"]: one["state"] for one in made.here("plugins", "--json").json["plugins"]}
        assert states | {"broken": "refused", "demo": "held", "zotero": "held"} == states
        yield made


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """Installed plugins of which one may run, one is switched off, and one waits."""
    with shell(tmp_path_factory.mktemp("decided") / "shell") as made:
        install(made.site, **DEMO)
        install(made.site, "other", provides={}, permissions=None)
        install_zotero(made.site)
        for command in (("grant", "demo"), ("grant", "other")):
            assert made.here(*command, "--trusted", "--yes").status == 0
        assert made.here("disable", "other").status == 0
        states = {one["id"]: one["state"] for one in made.here("plugins", "--json").json["plugins"]}
        assert states | {"demo": "allowed", "other": "disabled", "zotero": "held"} == states
        yield made


@pytest.mark.parametrize("arguments", LISTINGS, ids=" ".join)
def test_a_listing_loads_nothing_costly(arguments: tuple[str, ...], waiting: Shell, tmp_path: Path) -> None:
    modules = loaded(YAZ_COMMAND, tmp_path, *arguments, more=waiting.environment)
    assert "yazcore.cli" in modules
    assert packages(modules, *COSTLY) == set()


@pytest.mark.parametrize("arguments", LISTINGS[:-1], ids=" ".join)
def test_where_something_is_granted_it_loads_hashlib_too(
    arguments: tuple[str, ...], decided: Shell, tmp_path: Path
) -> None:
    # The texts that were granted are told from others by their digest.
    modules = loaded(YAZ_COMMAND, tmp_path, *arguments, more=decided.environment)
    assert "yazcore.cli" in modules
    assert packages(modules, *COSTLY) <= {"hashlib"}


@pytest.mark.parametrize("arguments", PAGES, ids=" ".join)
def test_a_page_loads_neither_mcp_nor_what_runs_plugins(
    arguments: tuple[str, ...], decided: Shell, tmp_path: Path
) -> None:
    modules = loaded(YAZ_COMMAND, tmp_path, *arguments, more=decided.environment)
    assert "fluent.syntax" in modules
    never = ("mcp", "pydantic", "keyring", "filelock", "asyncio", "yazcore.host", "yazcore.activation")
    assert packages(modules, *never, "yazcore.runtimes", "yazcore.granting", "yazcore.writing.plugins") == set()


@pytest.mark.parametrize(
    "arguments", [("plugins",), ("plugins", "--json"), ("show", "demo"), ("preview", "demo"), ("denials", "demo")],
    ids=" ".join,
)  # fmt: skip
def test_listing_plugins_runs_no_code_of_a_plugin(arguments: tuple[str, ...], decided: Shell, tmp_path: Path) -> None:
    modules = loaded(YAZ_COMMAND, tmp_path, *arguments, more=decided.environment)
    assert {one for one in modules if one.startswith(("yaz_plugin_", "yazcore.writing.plugins."))} == set()
