"""yaz as one object: a `Host` with the contract, the tools, the shipped plugins, the engines and the open projects.

    application = open_writing(home, [Path("thesis")])
    application.projects()                  # [{"projectId": "prj_...", "name": "thesis"}]
    await application.host.gate.call_tool(principal, "read_outline", {"projectId": ...})
    application.close()
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from typing import Any

from yazcore import OWNER, Approve, Call, CapabilityError, FileRequest, Home, Host, Own, YazError
from yazcore.writing.contract import FOLDER, SHIPPED, SHIPPED_IDS, YAZ
from yazcore.writing.projects.compile import Compiler
from yazcore.writing.projects.engines import COMPILE_SECONDS, Engine, TypstEngine
from yazcore.writing.projects.formats import Claim, Folder, Formats
from yazcore.writing.projects.identity import Identities
from yazcore.writing.projects.workspace import Workspace
from yazcore.writing.tools import WritingPlugin

_PROJECT_AREA = "project"


class WritingApp:
    """What `open_writing` makes. Safe from any thread; `outline`, `compile` and `diagnostics` block."""

    host: Host

    def __init__(
        self, home: Home, roots: Sequence[Path], engines: Mapping[str, Engine], compile_seconds: float
    ) -> None:
        self._port = HostFormats(self)
        self.formats = Formats(self._port)
        self.workspace = Workspace(roots, Identities(home), self.formats, own=home.folder)
        self.compiler = Compiler(self.formats, engines, home, compile_seconds)

    def projects(self) -> list[dict[str, str]]:
        """The open projects, `{"projectId", "name"}` each."""
        return [{"projectId": project.id, "name": project.name} for project in self.workspace.projects()]

    def project(self, folder: Path) -> str:
        """The id of the project in `folder`, which is a root or lies below one; it is opened if it is not open.

        Raises `YazError` as `Workspace.open` does.
        """
        path = folder.expanduser().resolve()
        for root in self.workspace.roots:
            if path.is_relative_to(root.path):
                below = path.relative_to(root.path).as_posix()
                return self.workspace.open(root.name, "" if below == "." else below).id
        raise YazError("root-unknown", f"{folder} is below no folder that was named", "name it, or a folder above it")

    def outline(self, project_id: str) -> dict[str, Any]:
        """All headings: `{"nodes": [...]}` (design 9). Raises `YazError`."""
        return {"nodes": self._all("read_outline", project_id, "nodes")}

    def compile(self, project_id: str) -> dict[str, Any]:
        """Compile, and give what the tool `compile` gives, with every diagnostic. Raises `YazError`.

        For a person, who may want to open the PDF, `pdfPath` says where it is; null where none was made.
        """
        result = self._call("compile", {"projectId": project_id})
        result["diagnostics"] = self._all("list_diagnostics", project_id, "diagnostics")
        result["pdfPath"] = str(self.compiler.artefact(project_id)) if result["succeeded"] else None
        return {key: value for key, value in result.items() if key != "moreDiagnostics"}

    def diagnostics(self, project_id: str) -> dict[str, Any]:
        """Compile, and give `{"succeeded", "hasErrors", "diagnostics"}` (design 9). Raises `YazError`."""
        result = self.compile(project_id)
        return {key: result[key] for key in ("succeeded", "hasErrors", "diagnostics")}

    def close(self) -> None:
        """Take every plugin out."""
        self.host.close()

    def _all(self, tool: str, project_id: str, key: str) -> list[dict[str, Any]]:
        """Every page of a listing."""
        found: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            part = self._call(tool, {"projectId": project_id, **cursor})
            found += part[key]
            if part["nextCursor"] is None:
                return found
            cursor = {"cursor": part["nextCursor"]}

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """One call through the gate, as the user. The shell has no other way in than an agent has."""
        outcome = asyncio.run(self.host.gate.call_tool(OWNER, tool, arguments))
        if outcome.is_error or outcome.structured is None:
            raise YazError("call-failed", outcome.text.rstrip("."))
        return dict(outcome.structured)


def open_writing(
    home: Home | None = None,
    roots: Sequence[Path] = (),
    *,
    builtin: Sequence[Path] = (),
    discover: bool = True,
    locale: str = "en-US",
    engines: Mapping[str, Engine] | None = None,
    compile_seconds: float = COMPILE_SECONDS,
    approve: Approve | None = None,
) -> WritingApp:
    """Make yaz, with everything that is installed and allowed active, and the roots that are projects open.

    * `home`: where it keeps what it knows; None for the user's own.
    * `roots`: the folders the user named; none given, those under `roots` in `settings.toml`. A root without an entry
      document, or with `home` in it, is a folder of projects, to be opened by `open_project`.
    * `builtin`: folders of further plugins that ship with whoever calls.
    * `engines`: by id; None for the embedded Typst compiler.
    * `approve`: asks the user about calls of tools that wait for a person.

    Raises `YazError` for a root that is missing or whose `yaz.toml` is broken.
    """
    home = home if home is not None else Home()
    named = tuple(roots) or _roots_of(home)
    known = engines if engines is not None else {"typst": TypstEngine(home.path("packages"))}
    application = WritingApp(home, named, known, compile_seconds)
    application.host = Host(
        YAZ,
        home=home,
        own=Own(folder=FOLDER, make=lambda context: WritingPlugin(context, application)),
        builtin=(*SHIPPED, *builtin),
        resolve={"project": application.workspace.get},
        locale=locale,
        discover=discover,
        guard=True,
        approve=approve,
    )
    application.host.activate()
    try:
        for root in application.workspace.roots:
            try:
                application.workspace.open(root.name)
            except YazError as error:
                if error.code not in ("project-no-entry", "project-own-files", "format-not-granted"):
                    raise
    except BaseException:
        application.close()
        raise
    return application


def _roots_of(home: Home) -> tuple[Path, ...]:
    given = home.settings().get("roots", [])
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise YazError("settings-broken", "settings.toml: roots is not a list of folders", 'write roots = ["~/theses"]')
    return tuple(Path(one).expanduser() for one in given)


class HostFormats:
    """The formats of the host's active plugins: the `FormatPort` of an application."""

    def __init__(self, application: WritingApp) -> None:
        self._application = application

    def claims(self) -> list[Claim]:
        """What ships with yaz first, then what its caller ships, then by id."""
        active = [(plugin.origin, plugin.manifest) for plugin in self._application.host.catalogue.now.plugins.values()]
        active.sort(key=lambda one: (one[0] == "installed", one[1].id not in SHIPPED_IDS, one[1].id))
        return [
            Claim(plugin=manifest.id, version=manifest.version, id=form.id, extensions=form.extensions)
            for _, manifest in active
            for form in manifest.provides.formats
        ]

    def may_read(self, plugin: str, path: str) -> bool:
        """Whether the plugin's granted capabilities cover reading that document."""
        return self._application.host.granted(plugin, FileRequest(area=_PROJECT_AREA, path=path))

    def refused(self, plugin: str, path: str, where: str) -> str:
        """Have the broker record that the plugin may not read that document, and say why."""
        try:
            self._application.host.require(plugin, FileRequest(area=_PROJECT_AREA, path=path), where)
        except CapabilityError as error:
            return f"{error.kind}, {error.reason}"
        return "it may now"  # granted a moment ago

    def call(self, claim: Claim, function: str, folder: Folder, argument: Any, seconds: float) -> Any:
        """Run one function in the plugin's context, with the project as the project of the call."""
        call = Call(posture="read", project=folder, deadline=time.monotonic() + seconds)
        future = self._application.host.call("formats", claim.plugin, claim.id, function, argument, call=call)
        try:
            return future.result(seconds)
        except FutureTimeout:
            call.cancelled.set()
            future.cancel()
            raise TimeoutError from None
