"""What a host adds by the one file `queue_kind.py`: read, checked, shown, granted, brokered, recorded like any kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.attacks.hosts import HEAD, called
from tests.hosts.console import CONTRACT
from tests.hosts.queue_kind import Queue, Queues
from tests.plugins_in_test import manifest, plugin_folder, tool
from yazcore import CAPABILITY_KINDS, Home, Host, read
from yazcore.kinds import compare
from yazcore.manifest.schema import schema as manifest_schema

CONSOLE = attrs.evolve(CONTRACT, capability_kinds=(*CAPABILITY_KINDS, Queue), services={"queues": Queues})

CODE = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool(name, handler) for name, handler in (("put", self.put), ("look", self.look), ("late", self.late))]

    def put(self, context, arguments):
        return self.tried(lambda: context.queues.put(arguments["queue"], {"a": 1}))

    def look(self, context, arguments):
        return self.tried(lambda: context.queues.look(arguments["queue"]) or context.queues.put(arguments["queue"], 1))

    async def late(self, context, arguments):
        return {"done": await context.aio.queues.look(arguments["queue"])}

    def tried(self, act):
        try:
            return {"done": act()}
        except CapabilityError as error:
            return {"kind": error.kind, "reason": error.reason, "detail": error.detail}
"""
SCHEMA = {
    "type": "object", "properties": {"queue": {"type": "string", "maxLength": 9}}, "required": ["queue"],
    "additionalProperties": False,
}  # fmt: skip
ASKS = {"kind": "queue", "queues": ["night"], "most": 2}


def document(*capabilities: dict[str, Any]) -> dict[str, Any]:
    names = {"put": "write", "look": "read", "late": "read"}
    tools = [tool(name, inputSchema=SCHEMA, posture=posture) for name, posture in names.items()]
    return manifest(capabilities=list(capabilities), provides={"tools": tools})


@contextmanager
def hosting(folder: Path, *capabilities: dict[str, Any]) -> Iterator[Host]:
    with plugin_folder(folder, document(*capabilities), HEAD + CODE) as package:
        host = Host(CONSOLE, home=Home(folder / "home"), builtin=[package], discover=False)
        try:
            (status,) = host.activate()
            assert status.state == "active", status
            yield host
        finally:
            host.close()


def test_a_manifest_may_name_it_and_its_faults_are_found() -> None:
    assert read(json.dumps(document(ASKS)).encode(), CONSOLE).violations == ()
    for wrong, told in (
        ({"queues": ["night", "*"]}, ("capability-queue", "/capabilities/0/queues/1", "name one, as in night")),
        ({"mots": 5}, ("manifest-unknown-key", "/capabilities/0/mots", 'did you mean "most"?')),
    ):
        found = read(json.dumps(document({**ASKS, **wrong})).encode(), CONSOLE).violations
        assert [(one.code, one.pointer, one.fix) for one in found] == [told]


def test_another_host_does_not_know_it() -> None:
    (found,) = read(json.dumps(document(ASKS)).encode(), CONTRACT).violations
    assert found.pointer == "/capabilities/0/kind"


def test_the_schema_of_manifests_has_it() -> None:
    assert '"queue"' in json.dumps(manifest_schema(CONSOLE))
    assert '"queue"' not in json.dumps(manifest_schema(CONTRACT))


def test_more_of_it_is_wider() -> None:
    assert compare(Queue(queues=("a",), most=2), Queue(queues=("a",))) == "narrower"
    assert compare(Queue(queues=("a",)), Queue(queues=("a", "b"))) == "wider"
    assert Queue.of_identity(Queue(queues=("a",)).identity) == Queue(queues=("a",))


def test_its_service_acts_under_the_broker_and_refusals_are_recorded(tmp_path: Path) -> None:
    with hosting(tmp_path, ASKS) as host:
        assert called(host, "demo__put", {"queue": "night"}).structured == {"done": 1}
        assert called(host, "demo__late", {"queue": "night"}).structured == {"done": 1}
        assert (called(host, "demo__put", {"queue": "day"}).structured or {})["reason"] == "out-of-scope"
        called(host, "demo__put", {"queue": "night"})
        assert called(host, "demo__put", {"queue": "night"}).structured == {
            "kind": "queue", "reason": "out-of-scope", "detail": "it holds as many jobs of this plugin as it may"
        }  # fmt: skip
        assert [(one["capability"], one["target"]) for one in host.denials.of("demo")] == [
            ("queue", "day"), ("queue", "night"),
        ]  # fmt: skip


def test_a_posture_binds_it(tmp_path: Path) -> None:
    with hosting(tmp_path, ASKS) as host:
        assert (called(host, "demo__look", {"queue": "night"}).structured or {})["detail"] == (
            "it runs with posture read, which changes nothing"
        )


@pytest.mark.parametrize(("asks", "reason"), [((), "not-declared"), (({**ASKS, "optional": True},), "not-granted")])
def test_without_a_declaration_or_a_grant_it_is_refused(
    tmp_path: Path, asks: tuple[dict[str, Any], ...], reason: str
) -> None:
    with hosting(tmp_path, *asks) as host:
        assert (called(host, "demo__put", {"queue": "night"}).structured or {})["reason"] == reason


def test_revoking_it_counts_at_the_next_call(tmp_path: Path) -> None:
    with hosting(tmp_path, ASKS) as host:
        host.grants.revoke("demo", Queue(queues=("night",), most=2).identity)
        assert (called(host, "demo__put", {"queue": "night"}).structured or {})["reason"] == "not-granted"
