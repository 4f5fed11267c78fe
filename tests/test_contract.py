"""What a host accepts, as one value: what is looked up in it, and what every host gets without asking."""

from __future__ import annotations

import pytest

from yazcore import hookspecs
from yazcore.contract import RESERVED, Contract
from yazcore.contributions import CONTRIBUTION_KINDS, TOOLS
from yazcore.kinds import CAPABILITY_KINDS, FsProject
from yazcore.permissions import GLOBAL, PROJECT

PLAIN = Contract(number=1, group="app.manifest", prefix="app-plugin-", host="app", version="1.0")


def test_a_host_gets_the_shipped_kinds_the_global_scope_and_the_page_of_hooks() -> None:
    assert PLAIN.capability_kinds == CAPABILITY_KINDS
    assert PLAIN.contribution_kinds == CONTRIBUTION_KINDS
    assert PLAIN.scope_kinds == (GLOBAL,)
    assert PLAIN.hookspecs == (hookspecs,)


def test_ids_that_the_design_reserves_are_reserved() -> None:
    assert set(RESERVED) == {"yaz", "core", "mcp", "tools", "permissions", "projects", "project", "result", "help"}
    assert PLAIN.reserved == RESERVED


def test_the_capability_kinds_of_contract_1_are_those_of_the_design() -> None:
    assert [kind.kind for kind in CAPABILITY_KINDS] == [
        "fs-project", "fs-read", "fs-write", "net", "process", "mcp-client", "credential",
    ]  # fmt: skip
    assert {kind.kind: kind.service for kind in CAPABILITY_KINDS} == {
        "fs-project": "files", "fs-read": "files", "fs-write": "files", "net": "network", "process": "processes",
        "mcp-client": "mcp_servers", "credential": "credentials",
    }  # fmt: skip


def test_what_a_manifest_names_is_found_by_its_name() -> None:
    assert PLAIN.capability_kind("fs-project") is FsProject
    assert PLAIN.contribution_kind("tools") is TOOLS
    assert PLAIN.scope_kind("global") is GLOBAL


@pytest.mark.parametrize("name", ["", "FS-PROJECT", "fs_project", "addCommand", "provide_tools", "project"])
def test_what_is_not_accepted_is_not_found(name: str) -> None:
    assert PLAIN.capability_kind(name) is None
    assert PLAIN.contribution_kind(name) is None
    assert PLAIN.scope_kind(name) is None


def test_a_scope_kind_counts_where_the_host_accepts_it() -> None:
    wider = Contract(
        number=1, group="app.manifest", prefix="app-plugin-", host="app", version="1.0", scope_kinds=(GLOBAL, PROJECT)
    )
    assert wider.scope_kind("project") is PROJECT
