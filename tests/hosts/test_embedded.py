"""A console as a web application, held against what its users may expect: `reference/studio.md` 2.9 and 2.13.

Those of 2.13 that are about a manifest alone (SA-1 to SA-8, SA-28) have their place in `tests/manifest`, as has what is
seen before an installation (SA-29); those about activation (SA-9 to SA-11, SA-31 to SA-33) stand in
`tests/test_differences.py` and `tests/test_activation.py`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.hosts.console import Cluster, console
from tests.hosts.embedded import Users, application
from tests.mcp.serving import http, modern
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import Home, Host

pytestmark = pytest.mark.anyio

ONE, TWO, NONE = (f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}" for digit in "123")
HIDDEN = "No such cluster, or no permission for it; list_clusters shows yours."
ON_CLUSTER = {
    "type": "object",
    "properties": {"clusterId": {"type": "string"}, "queue": {"type": "string", "maxLength": 20}},
    "required": ["clusterId"],
    "additionalProperties": False,
}
PARAMS = [{"name": "queue", "values": ["orders", "invoices"], "shape": "a word", "note": "which queue"}]
PROVIDES = {
    "tools": [
        tool("purge", posture="write", permission="acme:admin"),
        tool("stats", scope="cluster", permission="acme:read", inputSchema=ON_CLUSTER, params=PARAMS),
    ],
    "resources": [{
        "uriTemplate": "yaz://acme/cluster/{clusterId}/queues", "nameKey": "text", "descriptionKey": "text",
        "scope": "cluster", "permission": "acme:read", "variables": [{"name": "clusterId", "note": "which"}],
    }],
    "prompts": [{
        "name": "tidy", "descriptionKey": "text", "scope": "cluster", "permission": "acme:read",
        "arguments": [{"name": "clusterId", "note": "which", "required": True}],
    }],
}  # fmt: skip
PERMISSIONS = [{"action": f"acme:{word}", "descriptionKey": "text"} for word in ("read", "admin")]
CODE = """
from yazcore import *

COUNTER = {"calls": []}

class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("stats", self.stats), Tool("purge", self.purge)]

    @hookimpl
    def provide_resources(self):
        return [Resource("yaz://acme/cluster/{clusterId}/queues", self.queues)]

    @hookimpl
    def provide_prompts(self):
        return [Prompt("tidy", lambda context, arguments: COUNTER["calls"].append("tidy") or "Tidy up.")]

    def queues(self, context, values):
        COUNTER["calls"].append("queues")
        return ["orders"]

    def stats(self, context, arguments):
        COUNTER["calls"].append("stats")
        if arguments.get("queue") == "crash":
            raise ValueError("/home/anna/secret")
        return {"caller": context.caller.name, "cluster": arguments["clusterId"]}

    def purge(self, context, arguments):
        COUNTER["calls"].append("purge")
        return {"caller": context.caller.name}
"""


_numbers = itertools.count()


class Bench:
    """The application with its users, and the calls that reached the plugin."""

    def __init__(self, host: Host, users: Users, plugin: Path) -> None:
        self.host = host
        self.users = users
        self._module = f"{plugin.name}.plugin"
        self.url = ""
        self._client: httpx2.AsyncClient | None = None

    @property
    def calls(self) -> list[str]:
        found: list[str] = sys.modules[self._module].COUNTER["calls"]
        return found

    def user(self, *grants: tuple[str, ...], **more: Any) -> str:
        """The token of a new user with these grants."""
        name = f"user-{next(_numbers)}"
        token = self.users.add(name, **more)
        for grant in grants:
            self.users.grant(name, *grant)
        return token

    async def ask(self, token: str, method: str, **params: Any) -> dict[str, Any]:
        """The answer to one request: its result or its error."""
        assert self._client is not None
        request = modern(method, params)
        request["headers"]["Authorization"] = f"Bearer {token}"
        answer: dict[str, Any] = (await self._client.post(f"{self.url}/agents/", **request)).json()
        return answer

    async def call(self, token: str, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        return await self.ask(token, "tools/call", name=name, arguments=arguments or {})

    async def stats(self, token: str, cluster: Any) -> dict[str, Any]:
        return await self.call(token, "acme__stats", {"clusterId": cluster})

    def outcome(self) -> dict[str, Any]:
        """The last record."""
        return self.host.audit.calls()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("embedded")
    users = Users(folder / "console.db")
    users.place(ONE, "production")
    users.place(TWO, "staging")
    document = manifest("acme", provides=PROVIDES, permissions=PERMISSIONS)
    clusters = {ONE: Cluster(ONE, "one"), TWO: Cluster(TWO, "two")}
    with plugin_folder(folder, document, CODE) as package:
        host = console(Home(folder / "home"), clusters, (package,), permits=users.permits, grants_of=users.grants_of)
        assert [status.state for status in host.activate()] == ["active", "active"]
        yield Bench(host, users, package)
        host.close()


@pytest.fixture
async def bench(built: Bench) -> AsyncIterator[Bench]:
    built.calls.clear()
    async with application(built.host, built.users) as url, http() as client:
        built.url, built._client = url, client
        yield built


def error_of(answer: dict[str, Any]) -> tuple[int, str]:
    return answer["error"]["code"], answer["error"]["message"]


def text_of(answer: dict[str, Any]) -> tuple[bool, str]:
    return answer["result"]["isError"], answer["result"]["content"][0]["text"]


# --- the nine checks of 2.9, SA-12 ------------------------------------------------------------------------------------


async def test_a_user_of_another_cluster_gets_the_hidden_answer_and_nothing_runs(bench: Bench) -> None:
    answer = await bench.stats(bench.user(("acme:read", "cluster", TWO)), ONE)
    assert text_of(answer) == (True, HIDDEN)
    assert "acme:read" not in json.dumps(answer)
    assert bench.calls == []


async def test_a_user_of_the_cluster_reaches_the_plugin_as_itself(bench: Bench) -> None:
    token = bench.user(("acme:read", "cluster", ONE))
    structured = (await bench.stats(token, ONE))["result"]["structuredContent"]
    principal = bench.users.principal_of(token)
    assert principal is not None
    assert structured == {"caller": principal.name, "cluster": ONE}
    assert bench.calls == ["stats"]


MALFORMED: Sequence[Any] = (
    None, 7, "", " ", "not-an-id", f"{{{ONE}}}", f"urn:uuid:{ONE}", ONE.replace("-", ""), f"{ONE}\n", f" {ONE}",
    "A" + ONE[1:], [ONE], {"id": ONE}, True,
)  # fmt: skip


@pytest.mark.parametrize("grants", [(("acme:read",),), ()])
async def test_a_malformed_id_is_a_protocol_error_before_any_permission(
    bench: Bench, grants: tuple[tuple[str, ...], ...]
) -> None:
    """SA-14, SB-15: format before permission, also for whoever has none."""
    token = bench.user(*grants)
    said = "clusterId is no cluster id; list_clusters shows the ids. help explains acme__stats."
    for given in MALFORMED:
        assert error_of(await bench.stats(token, given)) == (-32602, said)
    missing = await bench.call(token, "acme__stats", {})
    assert error_of(missing) == (-32602, said.replace("is no cluster id", "is missing"))
    assert bench.calls == []


async def test_a_global_tool_without_its_permission_names_it_and_says_where_to_look(bench: Bench) -> None:
    """SA-18, SB-17: also with a grant on a cluster alone."""
    for grants in ((), (("acme:admin", "cluster", ONE),)):
        is_error, text = text_of(await bench.call(bench.user(*grants), "acme__purge"))
        assert is_error
        assert text == (
            "acme__purge needs the permission acme:admin, which you do not have; "
            "console://permissions shows what you may do."
        )
    assert bench.calls == []


async def test_a_global_tool_with_its_permission_runs(bench: Bench) -> None:
    assert not (await bench.call(bench.user(("acme:admin",)), "acme__purge"))["result"]["isError"]
    assert bench.calls == ["purge"]


async def test_help_has_the_tool_its_permission_its_scope_and_its_parameters(bench: Bench) -> None:
    """SA-20: index by posture; a topic in any case and with spaces; an unknown topic is no error."""
    token = bench.user()
    index = (await bench.call(token, "help"))["result"]["structuredContent"]["tools"]
    assert set(index) == {"read", "write"}
    assert [entry["tool"] for entry in index["read"]] == ["acme__stats", "help", "list_clusters"]
    assert index["write"] == [
        {"tool": "acme__purge", "summary": "A text", "permission": "acme:admin", "scope": "global"}
    ]
    for topic in ("acme__stats", "  ACME__Stats "):
        entry = (await bench.call(token, "help", {"topic": topic}))["result"]["structuredContent"]["tool"]
        assert entry["access"] == {"permission": "acme:read", "scope": "cluster"}
        assert entry["params"] == PARAMS
    unknown = (await bench.call(token, "help", {"topic": "nothing"}))["result"]
    assert not unknown["isError"]
    assert unknown["structuredContent"]["tools"] == ["acme__purge", "acme__stats", "help", "list_clusters"]


# --- hiding, SA-13, SB-16 ---------------------------------------------------------------------------------------------


async def test_a_cluster_that_is_hidden_and_one_that_is_not_there_are_byte_equal(bench: Bench) -> None:
    for grants in ((), (("acme:read", "cluster", TWO),)):
        token = bench.user(*grants)
        assert await bench.stats(token, ONE) == await bench.stats(token, NONE)
        for method, param in (("resources/read", "uri"), ("prompts/get", "name")):
            answers = [
                json.dumps(
                    await bench.ask(
                        token, method,
                        **({"uri": f"yaz://acme/cluster/{one}/queues"} if param == "uri"
                           else {"name": "acme__tidy", "arguments": {"clusterId": one}}),
                    )
                ).replace(one, "ID")
                for one in (ONE, NONE)
            ]  # fmt: skip
            assert answers[0] == answers[1]
            assert "error" in json.loads(answers[0])
    owner_like = bench.user(("acme:*",))
    assert text_of(await bench.stats(owner_like, NONE)) == (True, HIDDEN)
    assert bench.calls == []


async def test_clusters_are_listed_to_whoever_may_see_them(bench: Bench) -> None:
    """S-41: only those the caller sees."""
    token = bench.user(("acme:read", "environment", "staging"))
    listed = (await bench.call(token, "list_clusters"))["result"]["structuredContent"]["items"]
    assert listed == [{"clusterId": TWO, "name": "two"}]
    read = await bench.ask(token, "resources/read", uri="console://clusters")
    assert json.loads(read["result"]["contents"][0]["text"]) == {"clusters": listed}


async def test_ids_are_completed_for_whoever_may_see_them(bench: Bench) -> None:
    token = bench.user(("console:see", "cluster", ONE))
    ref = {"type": "ref/resource", "uri": "console://cluster/{clusterId}"}
    answer = await bench.ask(token, "completion/complete", ref=ref, argument={"name": "clusterId", "value": ""})
    assert answer["result"]["completion"]["values"] == [ONE]


async def test_an_id_that_was_proposed_is_not_thereby_allowed(bench: Bench) -> None:
    ref = {"type": "ref/resource", "uri": "console://cluster/{clusterId}"}
    argument = {"name": "clusterId", "value": ""}
    sees, nobody = bench.user(("console:see", "cluster", ONE)), bench.user()
    proposed = (await bench.ask(sees, "completion/complete", ref=ref, argument=argument))["result"]["completion"]
    assert proposed["values"] == [ONE]
    assert text_of(await bench.stats(sees, ONE)) == (True, HIDDEN)
    assert bench.calls == []
    forbidden = (await bench.ask(nobody, "completion/complete", ref=ref, argument=argument))["result"]["completion"]
    assert forbidden["values"] == []
    assert "error" in await bench.ask(nobody, "resources/read", uri=f"console://cluster/{ONE}")


# --- who may, SA-15 to SA-17 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grant", "reads", "purges"),
    [
        (None, False, False),
        (("acme:read", "cluster", ONE), True, False),
        (("acme:read", "cluster", TWO), False, False),
        (("acme:read", "environment", "production"), True, False),
        (("acme:read", "environment", "staging"), False, False),
        (("acme:read",), True, False),
        (("acme:admin",), False, True),
        (("acme:*",), True, True),
        (("acme:*", "cluster", ONE), True, False),
        (("*",), False, False),
        (("*:*",), False, False),
        (("console:*",), False, False),
    ],
)
async def test_the_matrix_of_grants(bench: Bench, grant: tuple[str, ...] | None, reads: bool, purges: bool) -> None:
    token = bench.user(*(() if grant is None else (grant,)))
    assert (not (await bench.stats(token, ONE))["result"]["isError"]) is reads
    assert (not (await bench.call(token, "acme__purge"))["result"]["isError"]) is purges
    assert bench.calls == ["stats"] * reads + ["purge"] * purges


async def test_a_grant_that_is_taken_back_counts_on_the_next_call(bench: Bench) -> None:
    token = bench.users.add("leaver")
    bench.users.grant("leaver", "acme:read", "cluster", ONE)
    assert not (await bench.stats(token, ONE))["result"]["isError"]
    bench.users.revoke("leaver")
    assert text_of(await bench.stats(token, ONE)) == (True, HIDDEN)
    assert bench.calls == ["stats"]


async def test_the_permission_of_a_plugin_that_is_off_grants_nothing(bench: Bench) -> None:
    """SA-17, SA-21, SA-27: names and rights leave together, and come back."""
    token = bench.user(("acme:*",))
    bench.host.switch("acme", False)
    try:
        assert error_of(await bench.stats(token, ONE)) == (-32602, "Unknown tool: acme__stats")
        told = await bench.ask(token, "resources/read", uri="console://permissions")
        assert "acme" not in json.dumps(told)
        document = await bench.ask(token, "resources/read", uri="console://tools")
        assert "acme" not in json.dumps(document)
    finally:
        bench.host.switch("acme", True)
    assert not (await bench.stats(token, ONE))["result"]["isError"]


async def test_a_user_reads_what_it_may_do_and_where(bench: Bench) -> None:
    """S-41: the rows of the application's database, in the scopes they are for."""
    token = bench.user(
        ("acme:read", "cluster", ONE), ("acme:*", "environment", "staging"), ("gone:read", "cluster", ONE)
    )
    read = await bench.ask(token, "resources/read", uri="console://permissions")
    told = json.loads(read["result"]["contents"][0]["text"])
    assert told["permissions"] == [
        {"permission": "console:look", "scope": "global", "scopeId": None},
        {"permission": "acme:read", "scope": "cluster", "scopeId": ONE},
        {"permission": "acme:admin", "scope": "environment", "scopeId": "staging"},
        {"permission": "acme:read", "scope": "environment", "scopeId": "staging"},
    ]
    assert "notListed" not in told


# --- errors, SA-19, SB-18 to SB-20 ------------------------------------------------------------------------------------


async def test_a_crash_says_nothing_of_the_machine_and_can_be_looked_up(bench: Bench) -> None:
    token = bench.user(("acme:read",))
    is_error, text = text_of(await bench.call(token, "acme__stats", {"clusterId": ONE, "queue": "crash"}))
    assert is_error
    assert "acme" in text
    assert "anna" not in text
    crash = bench.host.audit.crash_of(bench.outcome()["reference"])
    assert crash is not None
    assert "/home/anna/secret" in json.dumps(crash)


async def test_what_is_unknown_is_a_protocol_error(bench: Bench) -> None:
    token = bench.user()
    assert error_of(await bench.call(token, "nothing")) == (-32602, "Unknown tool: nothing")
    assert error_of(await bench.ask(token, "resources/read", uri="yaz://nothing"))[0] == -32602


async def test_wrong_arguments_are_a_result_that_names_field_and_bound(bench: Bench) -> None:
    token = bench.user(("acme:read",))
    is_error, text = text_of(await bench.call(token, "acme__stats", {"clusterId": ONE, "queue": "x" * 21}))
    assert is_error
    assert "queue" in text
    assert "20" in text
    assert bench.calls == []


# --- listings, SA-21 to SA-25 -----------------------------------------------------------------------------------------


async def test_the_document_of_tools_is_what_help_gives(bench: Bench) -> None:
    token = bench.user()
    document = await bench.ask(token, "resources/read", uri="console://tools")
    entries = json.loads(document["result"]["contents"][0]["text"])["tools"]
    for entry in entries:
        topic = await bench.call(token, "help", {"topic": entry["name"]})
        assert topic["result"]["structuredContent"] == {"tool": entry}
    listed = await bench.ask(token, "tools/list")
    assert [one["name"] for one in listed["result"]["tools"]] == sorted(entry["name"] for entry in entries)
    discovered = await bench.ask(token, "server/discover")
    for entry in entries:
        assert entry["name"] in discovered["result"]["instructions"]


async def test_the_hosts_reads_say_that_they_leave_nothing_behind(bench: Bench) -> None:
    """S-38: help is read-only, idempotent, not destructive, closed world."""
    listed = {one["name"]: one for one in (await bench.ask(bench.user(), "tools/list"))["result"]["tools"]}
    said = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    assert listed["help"]["annotations"] == listed["list_clusters"]["annotations"] == said


async def test_the_list_is_the_same_with_and_without_the_permission(bench: Bench) -> None:
    with_it, without = bench.user(("acme:*",)), bench.user()
    lists = [await bench.ask(token, "tools/list") for token in (with_it, without)]
    assert lists[0] == lists[1]


async def test_a_tool_outside_the_allow_list_is_not_there_at_all(bench: Bench) -> None:
    token = bench.user(("acme:*",), tools="acme__stats")
    listed = await bench.ask(token, "tools/list")
    assert [one["name"] for one in listed["result"]["tools"]] == ["acme__stats", "help"]
    outside, unknown = await bench.call(token, "acme__purge"), await bench.call(token, "acme__gone")
    assert json.dumps(outside).replace("purge", "gone") == json.dumps(unknown)
    assert bench.outcome()["outcome"] == "unknown"
    told = [
        await bench.call(token, "help"), await bench.ask(token, "server/discover"),
        await bench.ask(token, "resources/read", uri="console://tools"),
    ]  # fmt: skip
    assert "purge" not in json.dumps(told)
    assert bench.calls == []


async def test_read_only_hides_and_refuses_what_writes(bench: Bench) -> None:
    token = bench.user(("acme:*",), read_only=True)
    listed = await bench.ask(token, "tools/list")
    assert "acme__purge" not in [one["name"] for one in listed["result"]["tools"]]
    assert error_of(await bench.call(token, "acme__purge")) == (-32602, "Unknown tool: acme__purge")
    assert not (await bench.stats(token, ONE))["result"]["isError"]
    assert bench.calls == ["stats"]


# --- the record, SA-26; identities, SA-30; the door, SA-34 ------------------------------------------------------------


async def test_each_call_leaves_one_record_with_who_what_where_and_how_it_ended(bench: Bench) -> None:
    token = bench.user(("acme:read", "cluster", ONE))
    principal = bench.users.principal_of(token)
    assert principal is not None
    ends = []
    for cluster in (ONE, TWO, "x"):
        await bench.call(token, "acme__stats", {"clusterId": cluster, "queue": "orders"})
        record = bench.outcome()
        assert (record["principal"], record["name"]) == (principal.name, "acme__stats")
        assert "orders" not in json.dumps(record)
        ends.append((record["outcome"], record["scope_id"]))
    assert ends == [("ok", ONE), ("denied", TWO), ("malformed", None)]


async def test_concurrent_users_are_never_mixed(bench: Bench) -> None:
    tokens = [bench.user(("acme:read", "cluster", cluster)) for cluster in (ONE, TWO) * 5]
    names = [principal.name for token in tokens if (principal := bench.users.principal_of(token)) is not None]
    answers = await asyncio.gather(*(bench.stats(token, ONE) for token in tokens * 5))
    for name, answer, cluster in zip(names * 5, answers, (ONE, TWO) * 25, strict=True):
        if cluster == ONE:
            assert answer["result"]["structuredContent"]["caller"] == name
        else:
            assert text_of(answer) == (True, HIDDEN)


async def test_without_a_credential_there_is_no_answer_and_the_rest_is_the_applications(bench: Bench) -> None:
    assert bench._client is not None
    for token in ("", "Bearer", "Bearer wrong", "Basic YTpi"):
        headers = {"Authorization": token} if token else {}
        answer = await bench._client.post(f"{bench.url}/agents/", **{**modern("tools/list"), "headers": headers})
        assert answer.status_code == 401
    front = await bench._client.get(f"{bench.url}/")
    assert front.text == "the console"
    got = await bench._client.get(
        f"{bench.url}/agents/", headers={"Authorization": f"Bearer {bench.user()}", "Accept": "text/event-stream"}
    )
    assert got.status_code >= 400
    assert bench.calls == []
