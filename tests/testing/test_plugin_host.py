from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.testing.projects import CODE, CONTRACT, ECHO, installed, package, project
from yazcore.gate import ProtocolFault
from yazcore.permissions import Principal, ScopeKind
from yazcore.testing import plugin_host
from yazcore.violations import YazError

ANYTHING = {"type": "object", "properties": {}, "additionalProperties": False}


def acting(tmp_path: Path, body: str, *, tool: dict[str, Any] | None = None, **more: Any) -> Path:
    """A project whose tool `act` has this body; it takes `self`, `context` and `arguments`."""
    code = CODE.replace('Tool("echo", self.echo)', 'Tool("act", self.act)').replace(
        'def echo(self, context, arguments):\n        return {"text": arguments["text"]}',
        f"def act(self, context, arguments):\n        {body}",
    )
    act = {**ECHO, "name": "act", "inputSchema": ANYTHING, **(tool or {})}
    return project(tmp_path, code=code, provides={"tools": [act], **more.pop("provides", {})}, **more)


# -- a plugin that works ----------------------------------------------------------------------------------------------


def test_a_tool_is_called_by_its_own_name_through_the_gate(tmp_path: Path) -> None:
    with plugin_host(project(tmp_path), contract=CONTRACT) as demo:
        assert demo.state == "active"
        assert (demo.violations, demo.differences, demo.reasons) == ((), (), ())
        assert demo.call("echo", {"text": "hello"}).structured == {"text": "hello"}
        assert demo.call("demo__echo", {"text": "hello"}).structured == {"text": "hello"}
        assert demo.call("echo", {"text": 3}).is_error


def test_an_installed_plugin_is_named_by_its_id(tmp_path: Path) -> None:
    with installed(tmp_path), plugin_host("demo", contract=CONTRACT) as demo:
        assert demo.call("echo", {"text": "hello"}).structured == {"text": "hello"}


def test_a_project_is_tested_from_its_source_even_if_it_is_installed_too(tmp_path: Path) -> None:
    new = project(tmp_path / "new", code=CODE.replace('arguments["text"]', '"new"'))
    with installed(tmp_path / "old"), plugin_host(new, contract=CONTRACT) as demo:
        assert demo.call("echo", {"text": "hello"}).structured == {"text": "new"}


def test_a_package_without_a_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(YazError) as caught, plugin_host(package(tmp_path), contract=CONTRACT):
        pass
    assert caught.value.code == "plugin-without-project"
    assert caught.value.message == "yaz_plugin_demo has no pyproject.toml beside it"


def test_the_contract_of_yaz_is_the_default(tmp_path: Path) -> None:
    with plugin_host(project(tmp_path)) as demo:
        assert demo.host.contract.group == "yaz.manifest"
        assert demo.state == "active"


def test_it_is_found_granted_and_run_as_a_third_partys(tmp_path: Path) -> None:
    with plugin_host(project(tmp_path), contract=CONTRACT) as demo:
        (status,) = [status for status in demo.host.plugins() if status.id == "demo"]
        assert (status.origin, status.distribution, status.runtime) == ("installed", "yaz-plugin-demo", "trusted")


def test_it_works_inside_a_running_event_loop(tmp_path: Path) -> None:
    async def test() -> Any:
        with plugin_host(project(tmp_path), contract=CONTRACT) as demo:
            return demo.call("echo", {"text": "hello"}).structured

    assert asyncio.run(test()) == {"text": "hello"}


def test_a_shipped_plugin_needs_no_grant_and_may_have_a_reserved_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    echo = {**ECHO, "permission": "typst:read"}
    where = package(tmp_path, plugin_id="typst", name="shipped_in_test", provides={"tools": [echo]})
    monkeypatch.syspath_prepend(str(tmp_path))
    with plugin_host(where, contract=CONTRACT, shipped=True) as typst:
        assert typst.call("echo", {"text": "hello"}).structured == {"text": "hello"}


def test_resources_prompts_and_commands_are_reached_too(tmp_path: Path) -> None:
    code = """
from yazcore import Command, Prompt, Resource, hookimpl

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def addCommand(self):
        return [Command("shout", lambda context, arguments: " ".join(arguments).upper())]

    @hookimpl
    def provide_resources(self):
        return [Resource("yaz://demo/greeting", lambda context, variables: "hello")]

    @hookimpl
    def provide_prompts(self):
        return [Prompt("greet", lambda context, arguments: f"Greet {arguments['who']}.")]
"""
    open_to_all = {"descriptionKey": "text", "scope": "global", "permission": "demo:read"}
    who = {"name": "who", "note": "Whom.", "required": True}
    provides = {
        "commands": [{"id": "shout", "nameKey": "text"}],
        "resources": [{"uri": "yaz://demo/greeting", "nameKey": "text", "mimeType": "text/plain", **open_to_all}],
        "prompts": [{"name": "greet", "arguments": [who], **open_to_all}],
    }
    with plugin_host(project(tmp_path, code=code, provides=provides), contract=CONTRACT) as demo:
        assert demo.command("shout", "one", "two") == "ONE TWO"
        assert demo.read("yaz://demo/greeting").data == "hello"
        assert demo.prompt("greet", {"who": "Anna"}) == "Greet Anna."


# -- what it is given -------------------------------------------------------------------------------------------------


def test_the_project_is_reached_through_the_services(tmp_path: Path) -> None:
    project = tmp_path / "thesis"
    project.mkdir()
    (project / "main.typ").write_text("= Title")
    in_project = {
        "scope": "project",
        "inputSchema": {"type": "object", "properties": {"projectId": {"type": "string"}}, "required": ["projectId"]},
    }
    where = acting(
        tmp_path,
        'return {"project": context.project["name"], "text": context.files.read_text("main.typ")}',
        tool=in_project,
        capabilities=[{"kind": "fs-project"}],
    )
    with plugin_host(where, contract=CONTRACT, project=project) as demo:
        outcome = demo.call("act", {"projectId": demo.project_id})
        assert outcome.structured == {"project": "thesis", "text": "= Title"}
        assert demo.call("act", {"projectId": "prj_aaaaaaaaaaaa"}).is_error
    with plugin_host(where, contract=CONTRACT) as demo:
        assert demo.call("act", {"projectId": demo.project_id}).is_error


def test_a_place_is_the_folder_that_the_test_gives(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "a.txt").write_text("a book")
    where = acting(
        tmp_path, 'return {"text": context.files.read_text("a.txt", place="library")}',
        capabilities=[{"kind": "fs-read", "place": "library"}],
    )  # fmt: skip
    with plugin_host(where, contract=CONTRACT, places={"library": library}) as demo:
        assert demo.call("act").structured == {"text": "a book"}
    with pytest.raises(YazError, match="needs a folder for 'library'") as caught, plugin_host(where, contract=CONTRACT):
        pass
    assert caught.value.code == "place-unbound"


def test_what_is_optional_is_granted_only_if_the_test_says_so(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    where = acting(
        tmp_path, 'return {"names": context.files.list(place="library")}',
        capabilities=[{"kind": "fs-read", "place": "library", "optional": True}],
    )  # fmt: skip
    with plugin_host(where, contract=CONTRACT, places={"library": library}, with_optional=True) as demo:
        assert demo.call("act").structured == {"names": []}
    with plugin_host(where, contract=CONTRACT, places={"library": library}) as demo:
        assert demo.call("act").is_error
        assert [denial["reason"] for denial in demo.denials] == ["not-granted"]


def test_a_revocation_counts_from_the_next_call_on(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    where = acting(
        tmp_path, 'return {"names": context.files.list(place="library")}',
        capabilities=[{"kind": "fs-read", "place": "library"}],
    )  # fmt: skip
    with plugin_host(where, contract=CONTRACT, places={"library": library}) as demo:
        assert demo.call("act").structured == {"names": []}
        assert demo.revoke("fs-read") == ('fs-read {"place": "library"}',)
        assert demo.call("act").is_error


@pytest.mark.parametrize("value", ["plain", 'q"uote \\ back', "Ünï 😀\n\x7f\x00", "", "]\n[x]"])
def test_settings_arrive_as_the_user_wrote_them(tmp_path: Path, value: str) -> None:
    setting = {"key": "greeting", "type": "string", "default": "hello", "descriptionKey": "text"}
    where = acting(tmp_path, 'return {"greeting": context.settings["greeting"]}', provides={"settings": [setting]})
    with plugin_host(where, contract=CONTRACT, settings={"greeting": value}) as demo:
        assert demo.call("act").structured == {"greeting": value}


def test_a_setting_that_toml_cannot_say_is_a_mistake_of_the_test(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="greeting is a list"), plugin_host(
        project(tmp_path), contract=CONTRACT, settings={"greeting": []}  # type: ignore[dict-item]
    ):
        pass


def test_texts_are_in_the_language_of_the_test(tmp_path: Path) -> None:
    where = acting(tmp_path, 'return {"text": context.message("text")}')
    (where / "yaz_plugin_demo" / "locales" / "de.ftl").write_text("text = Ein Text\n")
    with plugin_host(where, contract=CONTRACT, locale="de-AT") as demo:
        assert demo.call("act").structured == {"text": "Ein Text"}


def test_permissions_are_asked_of_the_principal_of_the_test(tmp_path: Path) -> None:
    nobody = Principal(name="nobody")
    where = project(tmp_path)
    with plugin_host(where, contract=CONTRACT) as demo:
        denied = demo.call("echo", {"text": "x"}, principal=nobody)
        assert denied.is_error
        assert "needs the permission demo:read" in denied.text
    with plugin_host(where, contract=CONTRACT, principal=nobody) as demo:
        assert demo.call("echo", {"text": "x"}).is_error


def test_another_hosts_scopes_are_resolved_by_the_test(tmp_path: Path) -> None:
    cluster = ScopeKind(
        name="cluster", argument="clusterId", parse=lambda text: text or None, source="list", hidden="No such cluster."
    )
    contract = attrs.evolve(CONTRACT, scope_kinds=(*CONTRACT.scope_kinds, cluster))
    in_cluster = {
        "scope": "cluster",
        "inputSchema": {"type": "object", "properties": {"clusterId": {"type": "string"}}, "required": ["clusterId"]},
    }
    where = acting(tmp_path, 'return {"id": context.scope_id}', tool=in_cluster)
    resolve: dict[str, Callable[[str], Any]] = {"cluster": {"one": "the cluster"}.get}
    with plugin_host(where, contract=contract, resolve=resolve) as demo:
        assert demo.call("act", {"clusterId": "one"}).structured == {"id": "one"}
        assert demo.call("act", {"clusterId": "two"}).text == "No such cluster."


# -- a plugin that does not work --------------------------------------------------------------------------------------


def test_denials_are_there_to_be_asserted(tmp_path: Path) -> None:
    with plugin_host(acting(tmp_path, 'context.files.read_text("/etc/passwd")'), contract=CONTRACT) as demo:
        assert demo.denials == []
        outcome = demo.call("act")
        assert outcome.text.startswith("demo may not do this: fs-read, not-declared.")
        (denial,) = demo.denials
        assert (denial["capability"], denial["reason"], denial["target"]) == ("fs-read", "not-declared", "/etc/passwd")


def test_a_broken_manifest_shows_its_violations_and_calls_say_them(tmp_path: Path) -> None:
    with plugin_host(project(tmp_path, licence="MIT"), contract=CONTRACT) as demo:
        assert demo.state == "refused"
        assert [violation.code for violation in demo.violations] == ["manifest-unknown-key"]
        with pytest.raises(YazError, match=r'demo is refused: .*unknown key "licence"') as caught:
            demo.call("echo", {"text": "x"})
        assert caught.value.code == "plugin-not-active"


@pytest.mark.parametrize("bad_id", ["Demo", "../x", "a/b", ""])
def test_an_id_that_no_distribution_could_have_is_a_violation(tmp_path: Path, bad_id: str) -> None:
    with plugin_host(project(tmp_path, plugin_id=bad_id), contract=CONTRACT) as demo:
        assert demo.state == "refused"
        assert "id-invalid" in [violation.code for violation in demo.violations]


def test_a_package_that_discovery_skips_shows_why(tmp_path: Path) -> None:
    where = project(tmp_path)
    (where / "yaz_plugin_demo" / "__init__.py").unlink()
    with plugin_host(where, contract=CONTRACT) as demo:
        assert [violation.code for violation in demo.violations] == ["package-form"]


def test_differences_are_shown(tmp_path: Path) -> None:
    where = project(tmp_path, code=CODE.replace('Tool("echo"', 'Tool("other"'))
    with plugin_host(where, contract=CONTRACT) as demo:
        assert [(one.name, one.change) for one in demo.differences] == [("echo", "missing"), ("other", "undeclared")]
        assert demo.state == "refused"


def test_a_plugin_that_raises_is_failed_and_says_what(tmp_path: Path) -> None:
    with plugin_host(project(tmp_path, code="raise ValueError('no luck')"), contract=CONTRACT) as demo:
        assert demo.state == "failed"
        assert demo.reasons[0] == "demo 1.0: import or constructor raised ValueError: no luck"
        assert re.fullmatch("yaz log [0-9a-f]{8} says why", demo.reasons[1])


def test_a_tool_that_it_does_not_have_is_a_fault_of_the_request(tmp_path: Path) -> None:
    with plugin_host(project(tmp_path), contract=CONTRACT) as demo, pytest.raises(ProtocolFault, match="demo__nothing"):
        demo.call("nothing")


@pytest.mark.parametrize("target", ["", "nothing", "a b"])
def test_a_target_that_is_none_is_said(target: str) -> None:
    with pytest.raises(YazError) as caught, plugin_host(target, contract=CONTRACT):
        pass
    assert caught.value.code == "plugin-not-found"
    assert caught.value.message == f"no plugin {target!r} is installed, and there is no such folder"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    where = project(tmp_path)
    with plugin_host(where, contract=CONTRACT):
        pass
    path, modules = list(sys.path), set(sys.modules)
    with plugin_host(where, contract=CONTRACT) as demo:
        home = demo.host.home.folder
        assert home.exists()
    assert not home.exists()
    assert sys.path == path
    assert {name for name in sys.modules if name.startswith("yaz_plugin_demo")} == set()
    assert set(sys.modules) == modules
