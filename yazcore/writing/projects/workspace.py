"""Which folders are open as projects, and where more may be opened: below the roots the user named, nowhere else."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import attrs

from yazcore import YazError
from yazcore.writing.projects.formats import Folder, Formats
from yazcore.writing.projects.identity import Identities
from yazcore.writing.projects.paths import document_path
from yazcore.writing.projects.project import Project, Settings, read_settings
from yazcore.writing.projects.tree import walk

MOST_OPEN = 64
"""How many projects can be open at a time."""

_MOST_NAMES = 5_000


@attrs.frozen
class Root:
    """A folder the user named, under the name agents know it by: they never see where it is."""

    name: str
    path: Path


class Workspace:
    """The roots and the open projects. Safe from any thread.

    `own` is the application's own folder, with its grants and secrets: no project may hold it or lie in it, for what
    lies in a project an agent may read and write.
    """

    def __init__(
        self, roots: Sequence[Path], identities: Identities, formats: Formats, own: Path | None = None
    ) -> None:
        self.roots = _named(roots)
        self._own = own
        self._identities = identities
        self._formats = formats
        self._lock = threading.Lock()
        self._open: dict[str, Project] = {}

    def open(self, root: str, path: str = "") -> Project:
        """Open the folder `path` below the root of that name; the empty path is the root itself.

        Nothing is written into the folder. Opening an open project reads its settings anew and gives the same id.
        Raises `YazError`: `root-unknown`, `document-path`, `project-not-found` (also for what lies outside the root,
        whatever way it is reached), `project-own-files`, `project-settings-broken`, `project-no-entry`,
        `project-entry-missing`,
        `project-id-taken`, `workspace-full`, `format-failed`.
        """
        folder = self._folder(root, path)
        self._keep_apart(folder)
        settings = read_settings(folder)
        candidate = Folder(id=self._identities.of(folder, settings.id), name=settings.name or folder.name, root=folder)
        project = self._project(candidate, settings)
        with self._lock:
            self._open = {one: held for one, held in self._open.items() if _is_there(held.root)}
            held = self._open.get(project.id)
            if held is not None and held.root != project.root:
                raise YazError(
                    "project-id-taken",
                    f"the open project {held.name!r} has the same id in its yaz.toml",
                    "give the copy an id of its own, or take the line with the id out of its yaz.toml",
                )
            if held is None and len(self._open) >= MOST_OPEN:
                raise YazError("workspace-full", f"{MOST_OPEN} projects are open", "serve fewer folders")
            self._open[project.id] = project
        return project

    def get(self, project_id: str) -> Project | None:
        """The open project with that id; None where there is none, or its folder has gone."""
        project = self._open.get(project_id)
        return project if project is not None and _is_there(project.root) else None

    def projects(self) -> tuple[Project, ...]:
        """The open projects, by name."""
        held = [project for project in self._open.values() if _is_there(project.root)]
        return tuple(sorted(held, key=lambda project: (project.name, project.id)))

    def _folder(self, root: str, path: str) -> Path:
        base = next((one.path for one in self.roots if one.name == root), None)
        if base is None:
            names = ", ".join(one.name for one in self.roots) or "none"
            raise YazError("root-unknown", "there is no root of that name", f"the roots are: {names}")
        missing = YazError(
            "project-not-found",
            "there is no folder of that path below the root",
            "give the path of a folder relative to the root, as in theses/mine; the empty path is the root itself",
        )
        try:
            folder = (base / document_path(path) if path else base).resolve(strict=True)
            if not folder.is_relative_to(base) or not folder.is_dir():
                raise missing
        except (OSError, RuntimeError):
            # RuntimeError: symbolic links in a circle, up to Python 3.12.
            raise missing from None
        return folder

    def _keep_apart(self, folder: Path) -> None:
        own = self._own.resolve() if self._own is not None else None
        if own is not None and (own.is_relative_to(folder) or folder.is_relative_to(own)):
            raise YazError(
                "project-own-files",
                "the folder holds the application's own files (YAZ_HOME), or lies among them",
                "open the folder of one project, or let YAZ_HOME name a folder outside it",
            )

    def _project(self, folder: Folder, settings: Settings) -> Project:
        if settings.entry is not None:
            entry = settings.entry
            claim = self._formats.of(entry)
            if claim is None:
                raise YazError(
                    "project-no-entry", f"yaz.toml: no format has {entry}", f"there are: {self._extensions()}"
                )
            self._formats.must_read(claim, entry, "opening a project")
            inside = (folder.root / entry).resolve()
            if not inside.is_file() or not inside.is_relative_to(folder.root):
                raise YazError(
                    "project-entry-missing", f"yaz.toml names the entry {entry}, which is not there", "mend the entry"
                )
        else:
            tree = walk(folder.root, lambda path: not path.rsplit("/", 1)[-1].startswith("."), _MOST_NAMES)
            found = self._formats.find_entry(folder, tree.files(frozenset(self._formats.claimed())))
            if found is None:
                raise YazError(
                    "project-no-entry",
                    "the folder holds no document that a project could begin with",
                    f'name its entry in yaz.toml, as in entry = "thesis.typ"; entries are {self._extensions()}',
                )
            entry, claim = found
        return Project(
            id=folder.id, name=folder.name, root=folder.root, entry=entry, format=claim.id, fonts=settings.fonts
        )

    def _extensions(self) -> str:
        return ", ".join(sorted(self._formats.claimed())) or "none is active"


def _is_there(folder: Path) -> bool:
    """Whether the folder can be reached: not if a drive has gone, or a right; the others are there all the same."""
    try:
        return folder.is_dir()
    except OSError:
        return False


def _named(folders: Sequence[Path]) -> tuple[Root, ...]:
    """The roots under names that differ: that of the folder, with a number where two have the same.

    Raises `YazError` (`root-missing`) for what is no folder.
    """
    roots: dict[str, Path] = {}
    for given in folders:
        try:
            path = given.expanduser().resolve(strict=True)
            if not path.is_dir():
                raise NotADirectoryError
        except (OSError, RuntimeError):
            problem = f"{given} is not a folder"
            raise YazError("root-missing", problem, "name the folder of a project, or one above") from None
        if path in roots.values():
            continue
        name, number = path.name or "root", 2
        while name in roots:
            name, number = f"{path.name}-{number}", number + 1
        roots[name] = path
    return tuple(Root(name, path) for name, path in roots.items())
