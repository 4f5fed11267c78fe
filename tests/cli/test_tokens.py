"""`yaz token`: made, changed and revoked beside a running yaz, which counts it from the next request on."""

from __future__ import annotations

import attrs
import pytest

from tests.cli.commands import Served, Shell
from yazcore.permissions.tokens import FILE


def test_a_token_is_printed_once_alone_and_kept_as_a_digest(yaz: Shell) -> None:
    made = yaz.here("token", "create", "agent", "--grant", "yaz:read@project", "--days", "3")
    assert made.status == 0
    assert made.out.startswith("yaz_")
    assert len(made.out.splitlines()) == 1
    assert "agent may yaz:read@project; sees every tool; good until " in made.err
    listed = yaz.here("token", "list")
    assert listed.out.splitlines()[1].split()[0] == "agent"
    for said in (listed.out, yaz.here("token", "list", "--json").out, yaz.home.path(FILE).read_text()):
        assert made.out.strip() not in said


def test_json_says_all_of_a_token(yaz: Shell) -> None:
    made = yaz.here(
        "token", "create", "agent", "--grant", "yaz:*", "--tool", "read_outline", "--read-only", "--json"
    ).json  # fmt: skip
    assert made["token"].startswith("yaz_")
    assert {**made, "token": "", "created": ""} == {
        "live": False, "name": "agent", "created": "", "expires": None, "grants": ["yaz:*"], "tools": ["read_outline"],
        "readOnly": True, "token": "", "unknown": [],
    }  # fmt: skip
    del made["token"], made["live"], made["unknown"]
    assert yaz.here("token", "list", "--json").json == {"tokens": [made]}


def test_a_permission_that_nobody_declares_is_given_with_a_note(yaz: Shell) -> None:
    made = yaz.here("token", "create", "agent", "--grant", "yaz:reed")
    assert made.status == 0
    assert (
        "note: no plugin declares yaz:reed, so it grants nothing until one does; did you mean yaz:read?" in made.err
    )
    assert yaz.here("token", "grant", "agent", "yaz:read", "--json").json["unknown"] == ["yaz:reed"]


def test_permissions_are_listed_with_what_they_allow(yaz: Shell) -> None:
    listed = yaz.here("token", "permissions", "--json").json
    assert {"permission": "yaz:compile", "plugin": "yaz", "description": "Compile a project"} in listed["permissions"]
    assert "yaz:compile  Compile a project" in yaz.here("token", "permissions").out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["create", "agent", "--grant", "*"],
            (
                "yaz: [grant-permission] '*' is no permission. write one as in zotero:read, or zotero:* for all of one "
                "plugin; yaz token permissions lists them\n"
            ),
        ),
        (
            ["grant", "agent", "yaz:read@galaxy"],
            "yaz: [grant-scope] 'galaxy' is no scope. leave it out for everywhere, or write @project or @project:ID\n",
        ),
        (["revoke", "agent"], "yaz: [token-unknown] there is no token 'agent'. there are none\n"),
        (["renew", "a\x1b[2J"], "yaz: [token-unknown] there is no token 'a\\x1b[2J'. there are none\n"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(yaz: Shell, arguments: list[str], said: str) -> None:
    done = yaz.here("token", *arguments)
    assert (done.status, done.out, done.err) == (1, "", said)
    assert not yaz.home.path(FILE).exists()


def test_a_running_yaz_counts_each_decision_from_the_next_request_on(served: Served, demo: Shell) -> None:
    text = demo.here("token", "create", "agent").out.strip()
    agent = attrs.evolve(served, token=text)
    assert not agent.call("list_projects")["isError"]
    assert "needs the permission demo:read" in agent.call("demo__echo", text="hi")["content"][0]["text"]
    granted = demo.here("token", "grant", "agent", "demo:read", "--json").json
    assert (granted["live"], granted["unknown"]) == (True, [])
    assert agent.call("demo__echo", text="hi")["structuredContent"] == {"text": "hi"}
    demo.here("token", "ungrant", "agent", "demo:read")
    assert agent.call("demo__echo", text="hi")["isError"]
    renewed = attrs.evolve(served, token=demo.here("token", "renew", "agent").out.strip())
    assert not renewed.call("list_projects")["isError"]
    with pytest.raises(ValueError, match="Expecting value"):  # 401, in words
        agent.call("list_projects")
    demo.here("token", "revoke", "agent")
    with pytest.raises(ValueError, match="Expecting value"):
        renewed.call("list_projects")
    records = demo.here("log", "--json").json["calls"]
    assert {one["principal"] for one in records} == {"agent"}
    assert not any(text in path.read_text() for path in demo.home.folder.rglob("*.json*") if path.is_file())


def test_a_token_for_one_project_sees_that_project_alone(served: Served, demo: Shell) -> None:
    nowhere = attrs.evolve(served, token=demo.here("token", "create", "a").out.strip())
    assert nowhere.call("list_projects")["structuredContent"]["projects"] == []
    there = demo.here("token", "create", "b", "--grant", f"yaz:read@{served.project_id}").out.strip()
    agent = attrs.evolve(served, token=there)
    listed = agent.call("list_projects")["structuredContent"]
    assert [one["projectId"] for one in listed["projects"]] == [served.project_id]
    assert listed["roots"] == []
    assert not agent.call("read_outline", projectId=served.project_id)["isError"]
    hidden = [agent.call(name, projectId=served.project_id) for name in ("compile",)]
    hidden.append(agent.call("read_outline", projectId="prj_aaaaaaaaaaaa"))
    hidden.append(nowhere.call("read_outline", projectId=served.project_id))
    texts = {one["content"][0]["text"] for one in hidden}
    assert texts == {"No such project, or no permission for it; list_projects shows yours."}
