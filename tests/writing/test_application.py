"""yaz as a whole: what an agent, and the user's shell, get through the gate."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.plugins_in_test import plugin_folder
from tests.writing.worlds import STOPPED, call, done, refused, write
from yazcore import OWNER, CapabilityError, Home, PermissionGrant, Principal, ProtocolFault, YazError
from yazcore.capabilities.grants import Grants
from yazcore.writing.application import HostFormats, WritingApp, open_writing

Open = Callable[..., WritingApp]


def the(app: WritingApp) -> dict[str, Any]:
    return {"projectId": app.projects()[0]["projectId"]}


def resource(app: WritingApp, uri: str, principal: Principal = OWNER) -> Any:
    return asyncio.run(app.host.gate.read_resource(principal, uri))


def test_yaz_and_the_shipped_plugins_are_active(open_on: Open) -> None:
    states = {one.id: (one.state, one.violations, one.differences) for one in open_on().host.plugins()}
    assert states == {"typst": ("active", (), ()), "yaz": ("active", (), ())}


def test_its_own_tools_have_no_prefix(open_on: Open) -> None:
    names = [tool.exposed for tool in open_on().host.gate.tools(OWNER)]
    assert names == [
        "compile",
        "create_document",
        "edit_document",
        "help",
        "list_diagnostics",
        "list_projects",
        "open_project",
        "read_document",
        "read_outline",
    ]


# --- projects ---


def test_a_root_that_is_a_project_is_open(open_on: Open) -> None:
    app = open_on()
    (project,) = done(app, "list_projects")["projects"]
    assert project == {**the(app), "name": "thesis", "entry": "main.typ", "format": "typst"}


def test_a_root_of_projects_is_a_root(open_on: Open, root: Path) -> None:
    app = open_on({"one/main.typ": "= One", "two/notes.txt": ""} | {"a.txt": "", "b.md": ""})
    # Its nearest Typst document is in a folder of it, so it is a project as well.
    assert done(app, "list_projects")["roots"] == ["thesis"]
    opened = done(app, "open_project", root="thesis", path="one")
    assert (opened["name"], opened["entry"], opened["documents"]) == ("one", "main.typ", ["main.typ"])


def test_a_root_without_a_document_is_no_project_and_no_error(open_on: Open) -> None:
    app = open_on({"notes.txt": ""})
    assert app.projects() == []
    assert done(app, "list_projects")["roots"] == ["thesis"]


def test_a_root_whose_settings_are_broken_is_an_error(open_on: Open) -> None:
    with pytest.raises(YazError) as caught:
        open_on({"yaz.toml": "entry =", "main.typ": ""})
    assert caught.value.code == "project-settings-broken"


def test_roots_come_from_the_settings_where_none_are_named(home: Home, tmp_path: Path) -> None:
    root = write(tmp_path / "thesis", {"main.typ": ""})
    write(home.folder, {"settings.toml": f"roots = [{json.dumps(str(root))}]\n"})
    app = open_writing(home, discover=False)
    assert [one["name"] for one in app.projects()] == ["thesis"]
    app.close()


def test_roots_in_the_settings_that_are_none_are_an_error(home: Home) -> None:
    write(home.folder, {"settings.toml": "roots = 3\n"})
    with pytest.raises(YazError) as caught:
        open_writing(home, discover=False)
    assert caught.value.code == "settings-broken"


def test_a_folder_outside_the_roots_is_not_opened(open_on: Open, tmp_path: Path, root: Path) -> None:
    write(tmp_path / "other", {"main.typ": "= Secret"})
    app = open_on()
    (root / "out").symlink_to(tmp_path / "other")
    texts = [refused(app, "open_project", root="thesis", path=path) for path in ("out", "gone")]
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def test_documents_are_listed_those_of_formats_first(open_on: Open) -> None:
    app = open_on({"main.typ": "", "b.bib": "", "ch/a.typ": "", "x.py": "", ".hidden/y.typ": "", "yaz.toml": ""})
    assert done(app, "open_project", root="thesis")["documents"] == ["main.typ", "ch/a.typ", "b.bib"]


def test_a_project_keeps_its_id_over_restarts(open_on: Open, home: Home, root: Path) -> None:
    before = the(open_on())
    again = open_writing(home, [root], discover=False)
    assert the(again) == before
    again.close()


# --- who may what ---

LOOK = PermissionGrant("yaz:look")


def test_only_projects_in_which_the_caller_may_do_something_are_shown(open_on: Open) -> None:
    app = open_on()
    project = the(app)["projectId"]
    nobody = Principal(name="nobody", grants=(LOOK,))
    reader = Principal(name="reader", grants=(LOOK, PermissionGrant("yaz:read", "project", project)))
    other = Principal(name="other", grants=(LOOK, PermissionGrant("yaz:read", "project", "prj_aaaaaaaaaaaa")))
    shown = {
        who.name: [one["projectId"] for one in (call(app, "list_projects", who).structured or {})["projects"]]
        for who in (nobody, reader, other)
    }
    assert shown == {"nobody": [], "reader": [project], "other": []}
    assert json.loads(resource(app, "yaz://projects", nobody).data) == {"projects": []}


def test_roots_are_named_only_to_who_may_open(open_on: Open) -> None:
    app = open_on()
    assert (call(app, "list_projects", Principal(name="n", grants=(LOOK,))).structured or {})["roots"] == []


def test_a_forbidden_project_is_as_one_that_is_not_there(open_on: Open) -> None:
    app = open_on()
    stranger = Principal(name="stranger", grants=(LOOK,))
    forbidden = call(app, "read_outline", stranger, **the(app))
    absent = call(app, "read_outline", OWNER, projectId="prj_aaaaaaaaaaaa")
    assert forbidden.text == absent.text == "No such project, or no permission for it; list_projects shows yours."


def test_a_malformed_id_is_said_to_be_one(open_on: Open) -> None:
    with pytest.raises(ProtocolFault, match="projectId is no project id"):
        call(open_on(), "compile", projectId="thesis")


def test_a_reader_does_not_write(open_on: Open, root: Path) -> None:
    app = open_on()
    reader = Principal(name="r", grants=(PermissionGrant("yaz:read", "project", the(app)["projectId"]),))
    assert call(app, "create_document", reader, **the(app), path="a.typ", text="").is_error
    assert not (root / "a.typ").exists()


# --- compiling ---


def test_a_good_project_compiles_and_its_pdf_is_a_resource(open_on: Open) -> None:
    app = open_on({"main.typ": "= One"})
    outcome = call(app, "compile", **the(app))
    assert outcome.structured is not None
    assert (outcome.structured["status"], outcome.structured["succeeded"]) == ("ok", True)
    (link,) = outcome.links
    assert link.uri == outcome.structured["pdf"]["uri"]
    content = resource(app, link.uri)
    assert (content.mime, content.data[:5]) == ("application/pdf", b"%PDF-")
    assert len(content.data) == outcome.structured["pdf"]["bytes"]


def test_diagnostics_before_any_compile_say_what_to_do(open_on: Open) -> None:
    app = open_on()
    assert refused(app, "list_diagnostics", **the(app)) == "this project has not been compiled yet. Call compile first."


def test_many_diagnostics_come_in_pages(open_on: Open) -> None:
    app = open_on({"main.typ": "".join(f"@ref{number}\n" for number in range(120))})
    first = done(app, "compile", **the(app))
    assert (len(first["diagnostics"]), first["moreDiagnostics"], first["counts"]["error"]) == (10, 110, 120)
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        part = done(app, "list_diagnostics", **the(app), **cursor)
        assert len(part["diagnostics"]) <= 50
        found += [one["id"] for one in part["diagnostics"]]
        if part["nextCursor"] is None:
            break
        cursor = {"cursor": part["nextCursor"]}
    assert len(found) == len(set(found)) == 120


def test_a_cursor_does_not_outlive_the_compilation(open_on: Open) -> None:
    app = open_on({"main.typ": "@a\n@b"})
    done(app, "compile", **the(app))
    cursor = done(app, "list_diagnostics", **the(app), limit=1)["nextCursor"]
    done(app, "compile", **the(app))
    assert "the list has changed since that page" in refused(
        app, "list_diagnostics", **the(app), limit=1, cursor=cursor
    )


def test_diagnostics_of_one_severity(open_on: Open) -> None:
    app = open_on({"main.typ": '#set text(font: "Nowhere")\nx'})
    done(app, "compile", **the(app))
    assert done(app, "list_diagnostics", **the(app), severity="error")["diagnostics"] == []
    (one,) = done(app, "list_diagnostics", **the(app), severity="warning")["diagnostics"]
    assert one["code"] == "missing-font"


def test_diagnostics_are_stale_after_a_change(open_on: Open) -> None:
    app = open_on({"main.typ": "= One"})
    done(app, "compile", **the(app))
    assert done(app, "list_diagnostics", **the(app))["stale"] is False
    done(app, "create_document", **the(app), path="two.typ", text="= Two")
    assert done(app, "list_diagnostics", **the(app))["stale"] is True


def test_a_document_that_loops_for_ever_ends_with_an_answer(open_on: Open) -> None:
    app = open_on(
        {"main.typ": "#for a in range(100000) { for b in range(100000) { let x = a * b } }"}, compile_seconds=1.0
    )
    result = done(app, "compile", **the(app))
    assert (result["status"], [one["code"] for one in result["diagnostics"]]) == ("timeout", ["timeout"])


def test_secrets_do_not_come_out_through_the_compiler(open_on: Open) -> None:
    app = open_on({"main.typ": '#panic(read(".env"))', ".env": "SECRET=1"})
    result = done(app, "compile", **the(app))
    if result["sandbox"] != "landlock":
        pytest.skip("this kernel has no Landlock")
    assert [one["code"] for one in result["diagnostics"]] == ["escape-root"]
    assert "SECRET" not in json.dumps(result)


def test_no_answer_holds_a_path_of_this_machine(open_on: Open, tmp_path: Path) -> None:
    app = open_on({"main.typ": '#image("gone.png")'})
    answers = [call(app, tool, **the(app)).text for tool in ("compile", "list_diagnostics", "read_outline")]
    assert not [text for text in answers if str(tmp_path) in text]


def test_no_engine_is_an_answer_and_no_crash(open_on: Open) -> None:
    app = open_on(engines={})
    result = done(app, "compile", **the(app))
    assert (result["status"], result["diagnostics"][0]["message"]) == ("unavailable", "there is no engine 'typst' here")


# --- resources ---


def test_a_document_is_a_resource(open_on: Open) -> None:
    app = open_on({"main.typ": "= One", "ch/ein führung.typ": "= Zwei"})
    base = f"yaz://project/{the(app)['projectId']}/document"
    assert resource(app, f"{base}/main.typ").data == "= One"
    assert resource(app, f"{base}/ch/ein%20f%C3%BChrung.typ").data == "= Zwei"


@pytest.mark.parametrize("path", ["gone.typ", "..%2F..%2Fetc%2Fpasswd", "ch/../../x", "%2Fetc%2Fpasswd", "~x"])
def test_a_document_that_is_none_is_no_resource(open_on: Open, path: str) -> None:
    app = open_on()
    uri = f"yaz://project/{the(app)['projectId']}/document/{path}"
    with pytest.raises(ProtocolFault) as caught:
        resource(app, uri)
    assert caught.value.message == f"No such resource: {uri}"


def test_a_pdf_that_was_never_made_is_no_resource(open_on: Open) -> None:
    app = open_on()
    with pytest.raises(ProtocolFault, match="No such resource"):
        resource(app, f"yaz://project/{the(app)['projectId']}/pdf")


def test_a_large_document_is_not_put_into_one_answer(open_on: Open) -> None:
    app = open_on({"main.typ": "x" * 300_000})
    with pytest.raises(ProtocolFault, match="read_document reads it in parts"):
        resource(app, f"yaz://project/{the(app)['projectId']}/document/main.typ")


def test_the_help_and_the_documents_about_tools_agree(open_on: Open) -> None:
    app = open_on()
    listed = {tool["name"]: tool for tool in json.loads(resource(app, "yaz://tools").data)["tools"]}
    assert done(app, "help", topic="edit_document") == {"tool": listed["edit_document"]}
    assert sorted(listed) == [tool.exposed for tool in app.host.gate.tools(OWNER)]
    assert json.loads(resource(app, "yaz://permissions").data)["principal"] == "owner"


def test_project_ids_are_completed_for_who_sees_them(open_on: Open) -> None:
    app = open_on()
    template = "yaz://project/{projectId}/pdf"
    assert asyncio.run(app.host.gate.complete(OWNER, template, "projectId", "prj_")) == [the(app)["projectId"]]


def test_agents_read_the_users_language(open_on: Open) -> None:
    tools = {tool.exposed: tool.description for tool in open_on(locale="de-AT").host.gate.tools(OWNER)}
    assert tools["help"].startswith("Erklärt die Werkzeuge")


# --- formats ---


NOT_GRANTED = "the plugin typst may not read this project: fs-project, not-granted"


def test_a_format_that_was_denied_the_project_reads_nothing(open_on: Open, home: Home) -> None:
    app = open_on({"main.typ": "= One"})
    project = the(app)
    app.host.grants.revoke("typst", 'fs-project {"access": "read"}')
    assert refused(app, "read_outline", **project) == f"{NOT_GRANTED}. yaz denials typst says what would allow it."
    result = done(app, "compile", **project)
    assert result["succeeded"] is False
    (diagnostic,) = result["diagnostics"]
    assert (diagnostic["code"], diagnostic["message"]) == ("format-not-granted", NOT_GRANTED)
    assert diagnostic["hints"] == ["yaz denials typst says what would allow it"]
    denials = app.host.denials.of("typst")
    assert [(one["capability"], one["target"], one["reason"], one["where"]) for one in denials] == [
        ("fs-project", "main.typ", "not-granted", where) for where in ("reading an outline", "compiling")
    ]


@pytest.mark.parametrize("settings", [{}, {"yaz.toml": 'entry = "main.typ"\n'}])
def test_a_project_whose_format_was_denied_it_is_not_opened_and_the_reason_is_said(
    open_on: Open, home: Home, settings: dict[str, str]
) -> None:
    Grants(home).revoke("typst", 'fs-project {"access": "read"}')
    app = open_on({"main.typ": "= One", **settings})
    assert app.projects() == []
    with pytest.raises(YazError) as raised:
        app.workspace.open(app.workspace.roots[0].name)
    assert (raised.value.code, raised.value.message) == ("format-not-granted", NOT_GRANTED)
    assert app.host.denials.of("typst")[-1]["where"] == "opening a project"


BROKEN = """
from yazcore import Format, hookimpl

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def registerFormat(self):
        def boom(context, argument):
            raise ValueError("/home/anna/secret")
        def first(context, names):
            return names[0] if names else None

        return [Format("broken", find_entry=first, outline=boom, plan=boom, collect=boom)]
"""


def broken_manifest() -> dict[str, Any]:
    return {
        "contract": 1,
        "id": "broken",
        "name": "Broken",
        "version": "0.1.0",
        "minAppVersion": "0.1.0",
        "author": "Anna",
        "description": "A format that fails.",
        "module": "to.be:set",
        "locales": "locales",
        "capabilities": [{"kind": "fs-project"}],
        "provides": {"formats": [{"id": "broken", "nameKey": "text", "extensions": [".brk"]}]},
    }


def test_a_format_that_crashes_is_named_and_others_go_on(open_on: Open, tmp_path: Path) -> None:
    with plugin_folder(tmp_path, broken_manifest(), BROKEN) as folder:
        app = open_on({"a/main.brk": "x", "main.typ": "= One"}, builtin=[folder])
        good = the(app)
        assert [one["title"] for one in done(app, "read_outline", **good)["nodes"]] == ["One"]
        opened = done(app, "open_project", root="thesis", path="a")
        bad = {"projectId": opened["projectId"]}
        assert refused(app, "read_outline", **bad).startswith(
            "the format 'broken' of the plugin broken 0.1.0 failed in outline: it raised ValueError. report it"
        )
        result = done(app, "compile", **bad)
        assert (result["status"], result["diagnostics"][0]["code"]) == ("unavailable", "format-failed")
        assert "/home/anna" not in json.dumps(result)
        assert done(app, "compile", **good)["succeeded"] is True


WRITING = BROKEN.replace('raise ValueError("/home/anna/secret")', 'context.files.write_text("main.brk", "changed")')


@pytest.mark.parametrize("function", ["outline", "plan", "collect"])
def test_a_format_changes_nothing_whatever_it_was_granted(
    open_on: Open, tmp_path: Path, root: Path, function: str
) -> None:
    document = {**broken_manifest(), "capabilities": [{"kind": "fs-project", "access": "write"}]}
    with plugin_folder(tmp_path, document, WRITING) as folder:
        app = open_on({"main.brk": "x"}, builtin=[folder])
        claim = app.formats.of("main.brk")
        assert claim is not None
        with pytest.raises(CapabilityError, match="it runs with posture read, which changes nothing"):
            HostFormats(app).call(claim, function, app.workspace.projects()[0].folder, {}, 20)
    assert [path.read_text() for path in root.rglob("main.brk")] == ["x"]


HANGING = BROKEN.replace(
    'raise ValueError("/home/anna/secret")',
    "from tests.writing.worlds import wait_until_stopped; wait_until_stopped(context)",
)


def test_a_format_that_takes_too_long_is_told_to_stop(open_on: Open, tmp_path: Path, root: Path) -> None:
    STOPPED.clear()
    with plugin_folder(tmp_path, broken_manifest(), HANGING) as folder:
        app = open_on({"main.brk": "x"}, builtin=[folder])
        project = app.workspace.projects()[0]
        claim = app.formats.of("main.brk")
        assert claim is not None
        with pytest.raises(TimeoutError):
            HostFormats(app).call(claim, "outline", project.folder, {}, 0.05)
        assert STOPPED.wait(20)


# --- the shell ---


def test_the_whole_outline_for_the_shell(open_on: Open) -> None:
    app = open_on({"main.typ": "".join(f"= Heading {number}\n" for number in range(700))})
    assert len(app.outline(the(app)["projectId"])["nodes"]) == 700


def test_every_diagnostic_for_the_shell(open_on: Open) -> None:
    app = open_on({"main.typ": "".join(f"@ref{number}\n" for number in range(120))})
    document = app.diagnostics(the(app)["projectId"])
    assert (document["succeeded"], document["hasErrors"], len(document["diagnostics"])) == (False, True, 120)
    assert set(document) == {"succeeded", "hasErrors", "diagnostics"}


def test_compiling_for_the_shell(open_on: Open) -> None:
    app = open_on({"main.typ": "= One"})
    document = app.compile(the(app)["projectId"])
    assert (document["succeeded"], document["diagnostics"]) == (True, [])
    assert Path(document["pdfPath"]).read_bytes().startswith(b"%PDF-")


def test_what_fails_in_the_shell_is_an_error_with_the_text(open_on: Open) -> None:
    with pytest.raises(YazError, match="No such project") as caught:
        open_on().outline("prj_aaaaaaaaaaaa")
    assert caught.value.code == "call-failed"


def test_the_project_of_a_folder(open_on: Open, root: Path, tmp_path: Path) -> None:
    app = open_on({"main.typ": "", "sub/main.typ": ""})
    assert app.project(root) == the(app)["projectId"]
    assert app.project(root / "sub") != app.project(root)
    with pytest.raises(YazError) as caught:
        app.project(tmp_path)
    assert caught.value.code == "root-unknown"
