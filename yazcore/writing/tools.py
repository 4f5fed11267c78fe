"""The host's own plugin: what an agent may do with writing projects (design 7).

Declared in `manifest.json` beside this module, compared, listed and gated like anyone's. Documents are reached through
`context.files` alone, under the `fs-project` capability that the user gave by naming the roots.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from yazcore import (
    CallContext,
    Context,
    Link,
    Resource,
    Result,
    ServiceError,
    Tool,
    ToolError,
    YazError,
    hookimpl,
)
from yazcore.writing.projects import documents
from yazcore.writing.projects.compile import Compilation
from yazcore.writing.projects.diagnostics import counts
from yazcore.writing.projects.outline import outline
from yazcore.writing.projects.paging import page
from yazcore.writing.projects.paths import document_path
from yazcore.writing.projects.project import Project
from yazcore.writing.projects.tree import extension, walk

if TYPE_CHECKING:
    from yazcore.writing.application import WritingApp

Arguments = dict[str, Any]

PDF_LIMIT = 20 * 2**20
"""The largest PDF that is given as a resource, in bytes."""

TEXT_LIMIT = 256 * 1024
"""The largest document that is given as a resource, in bytes."""

_FIRST_DIAGNOSTICS = 10
_MOST_DOCUMENTS = 200
_MOST_UNREAD = 20
# What is left of a call's time when a compilation has to end, in seconds: to end the engine and to answer.
_TO_ANSWER = 5.0


def _telling(handler: Callable[..., Any]) -> Callable[..., Any]:
    """A handler whose errors that a model can mend are told to it, as `what is wrong. what to do.`"""

    @functools.wraps(handler)
    def told(self: WritingPlugin, context: CallContext, arguments: Arguments) -> Any:
        try:
            return handler(self, context, arguments)
        except YazError as error:
            raise ToolError(f"{error.message}. {error.fix}." if error.fix else f"{error.message}.") from None
        except ServiceError as error:
            raise ToolError(f"{error.message} ({error.code}).") from None

    return told


class WritingPlugin:
    """The tools and resources of yaz. `application` is what they work on; it outlives every call."""

    def __init__(self, context: Context, application: WritingApp) -> None:
        self._context = context
        self._application = application

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        """The tools; their schemas are the manifest's."""
        return [
            Tool("list_projects", self.list_projects),
            Tool("help", self.help),
            Tool("open_project", self.open_project),
            Tool("read_outline", self.read_outline),
            Tool("list_diagnostics", self.list_diagnostics),
            Tool("read_document", self.read_document),
            Tool("compile", self.compile),
            Tool("create_document", self.create_document),
            Tool("edit_document", self.edit_document),
        ]

    @hookimpl
    def provide_resources(self) -> list[Resource]:
        """The resources: what an application may put in front of a model without asking it."""
        return [
            Resource("yaz://tools", lambda context, variables: self._application.host.tools_document()),
            Resource("yaz://permissions", lambda context, variables: self._application.host.permissions_document()),
            Resource("yaz://projects", lambda context, variables: {"projects": self._visible(context)}),
            Resource(
                "yaz://project/{projectId}/document/{+path}", self.document_resource, complete=self.complete_project
            ),
            Resource("yaz://project/{projectId}/pdf", self.pdf_resource, complete=self.complete_project),
        ]

    # --- projects -------------------------------------------------------------------------------------------------

    @_telling
    def list_projects(self, context: CallContext, arguments: Arguments) -> Arguments:
        """The open projects in which the caller may do something, and the roots for those who may open more."""
        visible = self._visible(context)
        part = page(visible, arguments.get("limit", 50), arguments.get("cursor"), _state_of(visible))
        may_open = context.caller is not None and context.caller.may("yaz:open", "global")
        roots = [root.name for root in self._application.workspace.roots] if may_open else []
        return {"projects": part.items, "roots": roots, "nextCursor": part.next_cursor}

    @_telling
    def help(self, context: CallContext, arguments: Arguments) -> Arguments:
        """The tools in short, or one in full."""
        return self._application.host.help(arguments.get("topic"))

    @_telling
    def open_project(self, context: CallContext, arguments: Arguments) -> Arguments:
        """Open a folder below a root."""
        project = self._application.workspace.open(arguments["root"], arguments.get("path", ""))
        found = self._documents(project)
        return {
            **_short(project),
            "documents": found[:_MOST_DOCUMENTS],
            "moreDocuments": max(0, len(found) - _MOST_DOCUMENTS),
        }

    def _documents(self, project: Project) -> list[str]:
        """The documents of a project, those of its formats first."""
        formats = frozenset(self._application.formats.claimed())
        tree = walk(project.root, lambda path: not path.rsplit("/", 1)[-1].startswith("."))
        found = tree.files(formats | documents.COMPANIONS)
        return sorted(
            (path for path in found if documents.is_document(path, tuple(formats))),
            key=lambda path: (extension(path) not in formats, path.count("/"), path),
        )

    def _visible(self, context: CallContext) -> list[dict[str, Any]]:
        principal = context.call.principal
        actions = self._project_actions()
        return [
            _short(project)
            for project in self._application.workspace.projects()
            if principal is not None
            and any(self._application.host.may(principal, action, "project", project.id) for action in actions)
        ]

    def _project_actions(self) -> frozenset[str]:
        """What can be permitted in a project: the permissions of everything active that is about one."""
        now = self._application.host.catalogue.now
        declared = [tool.declaration for tool in now.tools.values()]
        declared += [resource.declaration for resource in now.resources.values()]  # type: ignore[misc]
        declared += [prompt.declaration for prompt in now.prompts.values()]  # type: ignore[misc]
        return frozenset(one.permission for one in declared if one.scope == "project")

    # --- one project ----------------------------------------------------------------------------------------------

    @_telling
    def read_outline(self, context: CallContext, arguments: Arguments) -> Arguments:
        """The headings of a project."""
        read = outline(_project(context), self._application.formats, context.files)
        deepest = arguments.get("maxLevel", 100)
        nodes = [node.as_json() for node in read.nodes if node.level <= deepest]
        part = page(nodes, arguments.get("limit", 300), arguments.get("cursor"), f"{read.revision}/{deepest}")
        return {
            "nodes": part.items,
            "total": len(nodes),
            "complete": read.complete,
            "unread": [{"file": one.file, "reason": one.reason} for one in read.unread[:_MOST_UNREAD]],
            "nextCursor": part.next_cursor,
        }

    @_telling
    def read_document(self, context: CallContext, arguments: Arguments) -> Arguments:
        """Lines of a document."""
        excerpt = documents.read(
            context.files, arguments["path"], arguments.get("fromLine", 1), arguments.get("lines", 400)
        )
        return {
            "path": excerpt.path,
            "revision": excerpt.revision,
            "fromLine": excerpt.first,
            "toLine": excerpt.last,
            "totalLines": excerpt.total,
            "text": excerpt.text,
            "nextLine": excerpt.next_line,
        }

    @_telling
    def create_document(self, context: CallContext, arguments: Arguments) -> Arguments:
        """A new document."""
        written = documents.create(context.files, arguments["path"], arguments["text"], self._extensions())
        return {"path": written.path, "revision": written.revision, "lines": written.lines}

    @_telling
    def edit_document(self, context: CallContext, arguments: Arguments) -> Arguments:
        """One passage of a document, replaced."""
        written = documents.edit(
            context.files,
            arguments["path"],
            arguments["old"],
            arguments["new"],
            arguments["revision"],
            self._extensions(),
        )
        return {
            "path": written.path, "revision": written.revision, "lines": written.lines, "line": written.line
        }  # fmt: skip

    def _extensions(self) -> tuple[str, ...]:
        return tuple(self._application.formats.claimed())

    @_telling
    def compile(self, context: CallContext, arguments: Arguments) -> Result:
        """A PDF of the project, and what is wrong with it."""
        project = _project(context)
        compilation = self._application.compiler.compile(
            project,
            seconds=max(1.0, context.deadline - _TO_ANSWER),
            cancelled=context.call.cancelled,
            report=lambda message: context.progress(0, None, message),
        )
        first = page([one.as_json() for one in compilation.diagnostics], _FIRST_DIAGNOSTICS, None, compilation.id).items
        uri = f"yaz://project/{project.id}/pdf"
        pdf = {"uri": uri, "bytes": compilation.size} if compilation.succeeded else None
        structured = {
            **_facts(compilation),
            "entry": compilation.entry,
            "engine": compilation.engine,
            "diagnostics": first,
            "moreDiagnostics": len(compilation.diagnostics) - len(first),
            "pdf": pdf,
            "seconds": compilation.seconds,
            "sandbox": compilation.sandbox,
        }
        links = [Link(uri, f"{project.name}.pdf", "application/pdf")] if pdf else []
        return Result(structured=structured, links=links)

    @_telling
    def list_diagnostics(self, context: CallContext, arguments: Arguments) -> Arguments:
        """What the last compilation of the project found."""
        project = _project(context)
        last = self._application.compiler.last(project.id)
        if last is None:
            raise ToolError("this project has not been compiled yet. Call compile first.")
        severity = arguments.get("severity")
        wanted = [one.as_json() for one in last.diagnostics if severity in (None, one.severity)]
        part = page(wanted, arguments.get("limit", 50), arguments.get("cursor"), f"{last.id}/{severity or ''}")
        return {
            **_facts(last),
            "stale": self._application.compiler.changed_since(project, last),
            "diagnostics": part.items,
            "nextCursor": part.next_cursor,
        }

    # --- resources ------------------------------------------------------------------------------------------------

    def document_resource(self, context: CallContext, variables: dict[str, str]) -> str:
        """The text of a document. Every path that names none is the same: not there."""
        try:
            data: bytes = context.files.read_bytes(document_path(variables["path"]))
        except YazError:
            raise ServiceError("file-not-found", "there is no document of that path") from None
        if len(data) > TEXT_LIMIT:
            raise ToolError("the document is too large for one answer; read_document reads it in parts")
        try:
            return documents.text_of(data)
        except YazError as error:
            raise ToolError(error.message) from None

    def pdf_resource(self, context: CallContext, variables: dict[str, str]) -> bytes:
        """The newest PDF of the project."""
        artefact = self._application.compiler.artefact(_project(context).id)
        if artefact is None:
            raise ServiceError("file-not-found", "the project has no PDF yet: compile it")
        if artefact.stat().st_size > PDF_LIMIT:
            raise ToolError(f"the PDF is larger than {PDF_LIMIT // 2**20} MiB; open it from its folder")
        return artefact.read_bytes()

    def complete_project(self, context: CallContext, variable: str, prefix: str) -> list[str]:
        """The ids of the projects the caller can see."""
        if variable != "projectId":
            return []
        return [project["projectId"] for project in self._visible(context)]


def _project(context: CallContext) -> Project:
    """The project of a call of scope `project`: the gate has resolved it."""
    project = context.call.project
    assert isinstance(project, Project), "the workspace resolves project ids, and the gate has asked it"
    return project


def _short(project: Project) -> dict[str, Any]:
    return {"projectId": project.id, "name": project.name, "entry": project.entry, "format": project.format}


def _state_of(visible: list[dict[str, Any]]) -> str:
    ids = "".join(project["projectId"] for project in visible)
    return hashlib.sha256(ids.encode()).hexdigest()[:16]


def _facts(compilation: Compilation) -> dict[str, Any]:
    return {
        "compileId": compilation.id,
        "status": compilation.status,
        "succeeded": compilation.succeeded,
        "hasErrors": compilation.has_errors,
        "counts": counts(compilation.diagnostics),
    }
