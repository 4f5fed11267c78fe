"""Compiling a project: one at a time, by an engine the host runs, with a result that keeps two facts apart (design 8).

`succeeded` says that a fresh, valid PDF exists; `has_errors` says that an error was reported. Neither follows from the
other, nor from an exit status (readthedocs/readthedocs.org#7884 and its fix, which broke the other half).
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import attrs

from yazcore import Cancellation, Home, YazError, remove_tree
from yazcore.writing.projects.diagnostics import Diagnostic, of_format, of_host, settled
from yazcore.writing.projects.engines import COMPILE_SECONDS, Engine, EngineJob, EngineRun
from yazcore.writing.projects.formats import Claim, FormatFault, Formats
from yazcore.writing.projects.project import Project
from yazcore.writing.projects.tree import Tree, readable, walk

Status = Literal["ok", "ok_with_errors", "failed", "timeout", "cancelled", "crashed", "unavailable"]

MOST_RUNNING = 2
"""How many compilations run at a time, over all projects: each may take gigabytes."""

_TAIL = 2_048
_NEWEST = "newest.pdf"
_A_DAY = 86_400.0


@attrs.frozen(kw_only=True)
class Compilation:
    """What one compilation came to.

    `artefact` is where the fresh PDF is, until another compilation makes a newer one; `size` are its bytes. Both are
    there exactly if it `succeeded`. `sandbox` is what the
    kernel enforced while it ran. `fingerprint` is of the project's files as they were when it began.
    """

    id: str
    project: str
    entry: str
    engine: str
    status: Status
    diagnostics: tuple[Diagnostic, ...]
    seconds: float
    sandbox: str
    fingerprint: str
    artefact: Path | None = None
    size: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether a fresh, valid PDF exists."""
        return self.artefact is not None

    @property
    def has_errors(self) -> bool:
        """Whether an error was reported, with or without a PDF."""
        return any(one.severity == "error" for one in self.diagnostics)


class Compiler:
    """Compiles projects and remembers the last compilation of each. Safe from any thread."""

    def __init__(
        self, formats: Formats, engines: Mapping[str, Engine], home: Home, seconds: float = COMPILE_SECONDS
    ) -> None:
        self._formats = formats
        self._engines = dict(engines)
        self._home = home
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running: set[str] = set()
        self._last: dict[str, Compilation] = {}

    def compile(
        self,
        project: Project,
        *,
        seconds: float | None = None,
        cancelled: Cancellation | None = None,
        report: Callable[[str], None] = lambda message: None,
    ) -> Compilation:
        """Compile the project's entry within `seconds` (and the compiler's own bound). Blocks.

        Whatever goes wrong with the document, the engine or the format is in the result. Raises `YazError` only where
        no compilation took place: one of this project is running (`compile-running`), or too many are (`compile-busy`).
        """
        with self._turn(project):
            report(f"compiling {project.entry}")
            compilation = self._compile(project, min(seconds or self._seconds, self._seconds), cancelled)
            self._last[project.id] = compilation
            return compilation

    def last(self, project_id: str) -> Compilation | None:
        """The last compilation of a project since this process began."""
        return self._last.get(project_id)

    def artefact(self, project_id: str) -> Path | None:
        """The newest PDF of a project, of whichever process: of the last compilation that made one."""
        path = self._home.path("builds", project_id, _NEWEST)
        return path if path.is_file() else None

    def changed_since(self, project: Project, compilation: Compilation) -> bool:
        """Whether a file of the project was written, added or removed since that compilation began."""
        claim = self._formats.of(project.entry)
        return claim is None or self._look(project, claim).fingerprint() != compilation.fingerprint

    @contextmanager
    def _turn(self, project: Project) -> Iterator[None]:
        with self._lock:
            if project.id in self._running:
                raise YazError(
                    "compile-running",
                    "this project is being compiled already, and one compilation runs at a time",
                    "wait for it; list_diagnostics then shows what it found",
                )
            if len(self._running) >= MOST_RUNNING:
                raise YazError(
                    "compile-busy", f"{MOST_RUNNING} other projects are being compiled", "try again when one has ended"
                )
            self._running.add(project.id)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(project.id)

    def _look(self, project: Project, claim: Claim) -> Tree:
        return walk(project.root, lambda path: self._formats.may_read(claim, path))

    def _compile(self, project: Project, seconds: float, cancelled: Cancellation | None) -> Compilation:
        claim = self._formats.of(project.entry)
        if claim is None:
            return _without_run(project, "", of_host("engine-missing", f"no active format has {project.entry}"))
        try:
            self._formats.must_read(claim, project.entry, "compiling")
        except YazError as error:
            return _without_run(project, "", of_host(error.code, error.message, error.fix))
        tree = self._look(project, claim)
        compilation_id = f"cmp_{secrets.token_hex(6)}"
        try:
            engine_id, engine = self._engine(project, claim)
        except YazError as error:
            hints = (error.fix,) if error.fix else ()
            return _without_run(project, tree.fingerprint(), of_host(error.code, error.message, *hints))
        with self._build_folder(project, compilation_id) as build:
            job = EngineJob(
                root=project.root,
                entry=project.entry,
                fonts=project.fonts,
                readable=readable(project.root, tree),
                build=build,
                seconds=seconds,
                cancelled=cancelled,
            )
            try:
                run = engine.run(job)
            except OSError as error:
                reason = of_host("engine-missing", f"the engine {engine_id!r} could not be started: {error.strerror}")
                return _without_run(project, tree.fingerprint(), reason)
            artefact = None
            if run.ending == "answered" and is_pdf(run.artefact):
                artefact = run.artefact.replace(self._home.path("builds", project.id, _NEWEST))
        found = [*self._collected(project, claim, engine_id, run, artefact), *_of_run(run, seconds)]
        if run.ending == "answered" and artefact is None and not any(one.severity == "error" for one in found):
            found.append(of_host("compile-failed", "the compiler made no PDF and reported no error"))
        diagnostics = settled(found)
        return Compilation(
            id=compilation_id,
            project=project.id,
            entry=project.entry,
            engine=engine_id,
            status=_status(run, artefact, diagnostics),
            diagnostics=diagnostics,
            seconds=round(run.seconds, 3),
            sandbox=run.sandbox,
            fingerprint=tree.fingerprint(),
            artefact=artefact,
            size=artefact.stat().st_size if artefact else 0,
        )

    def _engine(self, project: Project, claim: Claim) -> tuple[str, Engine]:
        """The engine that the format's plan names, if the host has it and it understands the entry."""
        plan = self._formats.plan(claim, project.folder, {"entry": project.entry})
        engine = self._engines.get(plan.engine)
        if engine is None:
            raise YazError("engine-missing", f"there is no engine {plan.engine!r} here")
        if plan.arguments != {"entry": project.entry}:
            raise FormatFault(claim, "plan", "it wants something else compiled than the project's entry")
        if not any(project.entry.lower().endswith(one) for one in engine.extensions):
            raise YazError("engine-missing", f"the engine {plan.engine!r} does not compile {project.entry}")
        if (reason := engine.unavailable()) is not None:
            raise YazError("engine-missing", reason)
        return plan.engine, engine

    def _collected(
        self, project: Project, claim: Claim, engine: str, run: EngineRun, artefact: Path | None
    ) -> list[Diagnostic]:
        if run.answer is None:
            return []
        outcome = {"entry": project.entry, "engine": engine, "exit": run.code, "output": dict(run.answer)}
        try:
            raw = self._formats.collect(claim, project.folder, outcome)
        except FormatFault as fault:
            return [of_host("log-parse", fault.message, fault.fix, severity="warning" if artefact else "error")]
        return [of_format(one, engine) for one in raw]

    @contextmanager
    def _build_folder(self, project: Project, compilation_id: str) -> Iterator[Path]:
        """A new folder for one run, gone afterwards; what a process left that died in a run goes after a day."""
        self._home.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        parent = self._home.path("builds", project.id)
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for old in parent.iterdir():
            if old.is_dir() and time.time() - old.stat().st_mtime > _A_DAY:
                remove_tree(old)
        folder = parent / compilation_id
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            remove_tree(folder)


def is_pdf(path: Path) -> bool:
    """Whether a whole PDF is there: it begins and ends as one."""
    try:
        with path.open("rb") as stream:
            head = stream.read(5)
            stream.seek(max(0, stream.seek(0, 2) - _TAIL))
            return head == b"%PDF-" and b"%%EOF" in stream.read()
    except OSError:
        return False


def _without_run(project: Project, fingerprint: str, why: Diagnostic) -> Compilation:
    return Compilation(
        id=f"cmp_{secrets.token_hex(6)}",
        project=project.id,
        entry=project.entry,
        engine="",
        status="unavailable",
        diagnostics=settled([why]),
        seconds=0.0,
        sandbox="none",
        fingerprint=fingerprint,
    )


def _of_run(run: EngineRun, seconds: float) -> list[Diagnostic]:
    """What the host saw of a run that did not end well by itself."""
    match run.ending:
        case "deadline":
            return [
                of_host(
                    "timeout",
                    f"the compilation took longer than {seconds:g} s and was ended",
                    "look for a loop that does not end, or a very large range, in what was changed last",
                )
            ]
        case "memory":
            return [
                of_host(
                    "memory",
                    "the compilation needed more memory than it may have and was ended",
                    "look for text or lists that grow in a loop, and for very large images",
                )
            ]
        case "output":
            return [of_host("output", "the compiler said more than can be kept and was ended")]
        case "cancelled":
            return [of_host("cancelled", "the compilation was cancelled", severity="info")]
        case "crashed":
            how = f"signal {-run.code}" if run.code < 0 else f"exit status {run.code}"
            return [of_host("crashed", f"the compiler crashed ({how})", "undo the last change, and compile again")]
    return []


def _status(run: EngineRun, artefact: Path | None, diagnostics: tuple[Diagnostic, ...]) -> Status:
    endings: dict[str, Status] = {
        "deadline": "timeout", "cancelled": "cancelled", "memory": "crashed", "output": "crashed", "crashed": "crashed"
    }  # fmt: skip
    if run.ending in endings:
        return endings[run.ending]
    if artefact is None:
        return "failed"
    return "ok_with_errors" if any(one.severity == "error" for one in diagnostics) else "ok"
