"""The kinds whose targets are names: process, mcp-client, credential."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.kinds import Capability, Credential, McpClient, McpRequest, Process
from yazcore.kinds.credential import CredentialRequest
from yazcore.kinds.process import ProcessRequest

LATEXMK = Process(commands=("latexmk", "biber"))


def test_a_command_is_covered_by_its_exact_name() -> None:
    assert LATEXMK.covers(ProcessRequest(command="latexmk"))


@pytest.mark.parametrize("command", ["/usr/bin/latexmk", "./latexmk", "Latexmk", "latexmk ", "latex", "", "latexmk\0"])
def test_anything_but_the_exact_name_of_a_command_is_not_covered(command: str) -> None:
    assert not LATEXMK.covers(ProcessRequest(command=command))


def test_a_path_forced_into_a_grant_runs_nothing() -> None:
    assert not Process(commands=("/bin/sh", "")).covers(ProcessRequest(command="/bin/sh"))


def test_running_a_command_never_reads() -> None:
    assert not LATEXMK.reads(ProcessRequest(command="latexmk"))


A = McpClient(servers=("a",))


@pytest.mark.parametrize("server", ["A", "b", "", "a ", "*", "a\0"])
def test_a_grant_for_one_server_gives_nothing_for_another(server: str) -> None:
    assert A.covers(McpRequest(server="a", tool="t"))
    assert not A.covers(McpRequest(server=server, tool="t"))


@given(st.text(max_size=5))
def test_a_wildcard_server_forced_into_a_grant_matches_nothing(server: str) -> None:
    assert not McpClient(servers=("*", "")).covers(McpRequest(server=server))


def test_listed_tools_are_the_only_ones() -> None:
    capability = McpClient(servers=("a",), tools=("check",))
    assert capability.covers(McpRequest(server="a", tool="check"))
    assert not capability.covers(McpRequest(server="a", tool="Check"))


def test_asking_a_server_for_its_tools_needs_no_listed_tool() -> None:
    assert McpClient(servers=("a",), tools=("check",)).covers(McpRequest(server="a"))


def test_a_remote_tool_reads_only_where_the_user_says_so() -> None:
    assert not A.reads(McpRequest(server="a", tool="t"))
    assert A.reads(McpRequest(server="a", tool="t", read=True))
    assert A.reads(McpRequest(server="a"))


def test_a_target_names_server_and_tool() -> None:
    assert McpRequest(server="a", tool="t").target == "a t"
    assert McpRequest(server="a").target == "a"


KEY = Credential(names=("api-key",))


def test_a_credential_is_covered_by_its_exact_name() -> None:
    assert KEY.covers(CredentialRequest(name="api-key"))
    assert not KEY.covers(CredentialRequest(name="API-KEY"))
    assert not KEY.covers(CredentialRequest(name=""))


def test_spending_a_secret_reads_and_changing_it_does_not() -> None:
    assert KEY.reads(CredentialRequest(name="api-key"))
    assert not KEY.reads(CredentialRequest(name="api-key", change=True))


def test_a_request_of_another_kind_is_not_covered() -> None:
    assert not KEY.covers(ProcessRequest(command="api-key"))
    assert not A.covers(ProcessRequest(command="a"))
    assert not LATEXMK.covers(McpRequest(server="latexmk"))


FAULTS: list[tuple[Capability, str, tuple[str | int, ...]]] = [
    (Process(commands=()), "capability-empty", ("commands",)),
    (Process(commands=("",)), "capability-empty", ("commands", 0)),
    (Process(commands=("latexmk", "*")), "capability-wildcard", ("commands", 1)),
    (Process(commands=("/bin/sh",)), "capability-command", ("commands", 0)),
    (Process(commands=("-x",)), "capability-command", ("commands", 0)),
    (Process(commands=("..",)), "capability-command", ("commands", 0)),
    (Process(commands=("latexmk -pdf",)), "capability-command", ("commands", 0)),
    (Process(commands=("a" * 65,)), "capability-command", ("commands", 0)),
    (McpClient(servers=()), "capability-empty", ("servers",)),
    (McpClient(servers=("",)), "capability-empty", ("servers", 0)),
    (McpClient(servers=("*",)), "capability-wildcard", ("servers", 0)),
    (McpClient(servers=("https://x",)), "capability-server", ("servers", 0)),
    (McpClient(servers=("a",), tools=()), "capability-empty", ("tools",)),
    (McpClient(servers=("a",), tools=("*",)), "capability-wildcard", ("tools", 0)),
    (McpClient(servers=("a",), tools=("a b",)), "capability-tool", ("tools", 0)),
    (Credential(names=()), "capability-empty", ("names",)),
    (Credential(names=("",)), "capability-empty", ("names", 0)),
    (Credential(names=("*",)), "capability-wildcard", ("names", 0)),
    (Credential(names=("API key",)), "capability-credential", ("names", 0)),
]


@pytest.mark.parametrize(("capability", "code", "path"), FAULTS)
def test_a_fault_has_its_code_and_its_place(capability: Capability, code: str, path: tuple[str | int, ...]) -> None:
    assert [(fault.code, fault.path) for fault in capability.faults()] == [(code, path)]


def test_every_fault_is_reported_at_once() -> None:
    assert [fault.code for fault in Process(commands=("", "*", "a/b")).faults()] == [
        "capability-empty",
        "capability-wildcard",
        "capability-command",
    ]


def test_the_text_of_a_wildcard_says_what_to_do() -> None:
    (fault,) = McpClient(servers=("*",)).faults()
    assert fault.message == "'*' is a wildcard, and a capability reaches only what it names"
    assert fault.fix == "name each server in full"
