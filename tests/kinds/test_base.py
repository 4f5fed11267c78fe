from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
import pytest

from yazcore.kinds import (
    CAPABILITY_KINDS,
    Capability,
    Credential,
    FsProject,
    FsRead,
    FsWrite,
    McpClient,
    Net,
    Process,
    Request,
    TargetFault,
)
from yazcore.kinds.base import compare

ONE_OF_EACH = (
    FsProject(access="write", paths=("refs.bib",)),
    FsRead(place="zotero-data", suggest=("~/Zotero",)),
    FsWrite(path="~/Notes"),
    Net(hosts=("api.zotero.org",), ports=(8443,), private=True, read_methods=("GET", "POST")),
    Process(commands=("latexmk",)),
    McpClient(servers=("reference-checker",), tools=("check",)),
    Credential(names=("api-key",)),
)


@attrs.frozen(kw_only=True)
class Panel(Capability):
    """A kind of another host, which says no more than it must."""

    kind: ClassVar[str] = "panel"
    service: ClassVar[str] = "panels"
    side: str

    def targets(self) -> dict[str, Any]:
        return {"side": self.side}

    def faults(self) -> Iterator[TargetFault]:
        return iter(())

    def covers(self, request: Request) -> bool:
        return request.target == self.side

    def sentence(self) -> str:
        return f"show a panel on the {self.side}"


def test_every_kind_of_the_contract_has_an_example_here() -> None:
    assert tuple(map(type, ONE_OF_EACH)) == CAPABILITY_KINDS


@pytest.mark.parametrize("capability", ONE_OF_EACH, ids=lambda one: one.kind)
def test_good_targets_have_no_faults(capability: Capability) -> None:
    assert list(capability.faults()) == []


@pytest.mark.parametrize("capability", ONE_OF_EACH, ids=lambda one: one.kind)
def test_an_identity_gives_the_same_targets_back(capability: Capability) -> None:
    found = type(capability).of_identity(capability.identity)
    assert found is not None
    assert found.targets() == capability.targets()


@pytest.mark.parametrize(
    "identity",
    [
        "",
        "net",
        "net ",
        "net {",
        "net []",
        'net {"hosts": 5}',
        'net {"hosts": ["a.org"], "more": 1}',
        'net {"hosts": ["B.org"], "ports": [443], "private": false, "readMethods": ["GET"]}',
        'process {"commands": ["latexmk"]}',
        "net " + "[" * 100_000,
    ],
)
def test_what_is_no_identity_of_the_kind_gives_nothing(identity: str) -> None:
    assert Net.of_identity(identity) is None


def test_exactly_the_kinds_that_can_leak_or_change_the_machine_are_sensitive() -> None:
    sensitive = {kind.kind for kind in CAPABILITY_KINDS if kind.sensitive}
    assert sensitive == {"net", "process", "fs-write", "mcp-client", "credential"}


@pytest.mark.parametrize(
    ("capability", "sentence"),
    [
        (FsProject(), "read the files of the project you work in, except protected ones such as .git and .env"),
        (ONE_OF_EACH[0], "read and write refs.bib in the project you work in"),
        (ONE_OF_EACH[1], "read files below the folder you choose as zotero-data (suggested: ~/Zotero)"),
        (ONE_OF_EACH[2], "read and write files below ~/Notes"),
        (Net(hosts=("B.org", "a.org")), "send data to a.org, b.org"),
        (
            ONE_OF_EACH[3],
            (
                "send data to api.zotero.org, on port 8443, also unencrypted and inside your own network, "
                "also while only reading, with POST"
            ),
        ),
        (ONE_OF_EACH[4], "run latexmk, which can run any program inside the same limits"),
        (ONE_OF_EACH[5], "send data to your MCP server reference-checker, to the tools check only"),
        (McpClient(servers=("a", "b")), "send data to your MCP servers a, b"),
        (ONE_OF_EACH[6], "keep and use, without seeing them, the secrets api-key"),
    ],
)
def test_a_capability_reads_as_a_sentence(capability: Capability, sentence: str) -> None:
    assert capability.sentence() == sentence


def test_the_reason_and_whether_it_is_optional_are_no_targets() -> None:
    assert FsProject(reason_key="why", optional=True).identity == FsProject().identity


@pytest.mark.parametrize("capability", ONE_OF_EACH, ids=lambda one: one.kind)
def test_a_capability_is_the_same_as_itself(capability: Capability) -> None:
    assert compare(capability, attrs.evolve(capability, optional=True)) == "same"


NARROWER = [
    (FsProject(access="write"), FsProject()),
    (FsProject(), FsProject(paths=("a",))),
    (FsProject(paths=("a", "b")), FsProject(paths=("a/x", "b"))),
    (FsRead(path="~/a"), FsRead(path="~/a/b")),
    (Net(hosts=("a.org", "b.org")), Net(hosts=("A.org",))),
    (Net(hosts=("a.org",), ports=(443, 8443)), Net(hosts=("a.org",))),
    (Net(hosts=("a.org",), private=True), Net(hosts=("a.org",))),
    (Net(hosts=("a.org",)), Net(hosts=("a.org",), read_methods=("GET",))),
    (Process(commands=("a", "b")), Process(commands=("a",))),
    (McpClient(servers=("a", "b")), McpClient(servers=("a",))),
    (McpClient(servers=("a",)), McpClient(servers=("a",), tools=("t",))),
    (McpClient(servers=("a",), tools=("t", "u")), McpClient(servers=("a",), tools=("t",))),
    (Credential(names=("a", "b")), Credential(names=("b",))),
]


@pytest.mark.parametrize(("wide", "narrow"), NARROWER)
def test_less_is_narrower_and_more_is_wider(wide: Capability, narrow: Capability) -> None:
    assert compare(wide, narrow) == "narrower"
    assert compare(narrow, wide) == "wider"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (FsProject(access="write", paths=("a",)), FsProject(paths=("a", "b"))),
        (FsRead(place="a"), FsRead(place="b")),
        (FsRead(path="~/a"), FsRead(place="a")),
        (FsRead(path="~/a"), FsRead(path="~/ab")),
        (FsWrite(path="~/a"), FsRead(path="~/a")),
        (Net(hosts=("a.org",)), Net(hosts=("b.org",))),
        (Process(commands=("a",)), Credential(names=("a",))),
        (Panel(side="left"), Panel(side="right")),
    ],
)
def test_what_was_not_allowed_before_is_wider(old: Capability, new: Capability) -> None:
    assert compare(old, new) == "wider"


def test_a_kind_that_says_no_more_than_it_must_is_compared_by_its_targets() -> None:
    assert compare(Panel(side="left"), Panel(side="left")) == "same"


def test_a_kind_that_does_not_say_what_reads_counts_as_changing() -> None:
    assert not Panel(side="left").reads(Request(kinds=("panel",), target="left"))
