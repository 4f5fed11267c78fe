from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
import pytest

from tests.capabilities.conftest import Setup
from yazcore.capabilities.broker import Refusal, decide
from yazcore.capabilities.context import Call, Frame
from yazcore.capabilities.errors import CapabilityError, NoContext
from yazcore.capabilities.grants import GrantedSet
from yazcore.kinds import (
    Capability,
    FileRequest,
    FsProject,
    FsRead,
    FsWrite,
    McpClient,
    McpRequest,
    Net,
    NetRequest,
    Process,
    Request,
    TargetFault,
)
from yazcore.kinds.process import ProcessRequest

NET = Net(hosts=("api.zotero.org",))
READ = FileRequest(area="project", path="a.tex")
WRITE = FileRequest(area="project", path="a.tex", write=True)


def holding(*capabilities: Capability) -> GrantedSet:
    return GrantedSet(allowed=frozenset(one.identity for one in capabilities))


def reason(verdict: Capability | Refusal) -> str:
    assert isinstance(verdict, Refusal)
    return verdict.reason


# --- the three reasons


def test_what_is_declared_granted_and_covered_is_allowed() -> None:
    assert decide((NET,), holding(NET), NetRequest(host="api.zotero.org"), "read") is NET


def test_what_no_capability_of_the_manifest_is_about_is_not_declared() -> None:
    verdict = decide((FsProject(),), holding(FsProject()), NetRequest(host="api.zotero.org"), "read")
    assert verdict == Refusal(kind="net", reason="not-declared")


def test_a_grant_of_what_the_manifest_does_not_declare_gives_nothing() -> None:
    assert reason(decide((), holding(NET), NetRequest(host="api.zotero.org"), "read")) == "not-declared"


def test_what_is_declared_and_not_granted_is_not_granted() -> None:
    assert reason(decide((NET,), GrantedSet(), NetRequest(host="api.zotero.org"), "read")) == "not-granted"


def test_what_is_granted_for_something_else_is_out_of_scope() -> None:
    assert reason(decide((NET,), holding(NET), NetRequest(host="evil.org"), "read")) == "out-of-scope"


def test_a_declared_capability_that_is_not_granted_and_would_cover_it_makes_it_not_granted() -> None:
    other = Net(hosts=("api.crossref.org",), optional=True)
    assert reason(decide((NET, other), holding(NET), NetRequest(host="api.crossref.org"), "read")) == "not-granted"


def test_nothing_granted_and_nothing_that_covers_it_is_not_granted() -> None:
    assert reason(decide((NET,), GrantedSet(), NetRequest(host="evil.org"), "read")) == "not-granted"


@pytest.mark.parametrize("server", ["A", "b", ""])
def test_another_server_than_the_granted_one_is_out_of_scope(server: str) -> None:
    capability = McpClient(servers=("a",))
    assert decide((capability,), holding(capability), McpRequest(server="a"), "write") is capability
    assert reason(decide((capability,), holding(capability), McpRequest(server=server), "write")) == "out-of-scope"


def test_a_read_grant_does_not_allow_a_write() -> None:
    verdict = decide((FsProject(),), holding(FsProject()), WRITE, "write")
    assert reason(verdict) == "out-of-scope"


def test_a_place_for_reading_does_not_allow_a_write() -> None:
    capability = FsRead(place="library")
    verdict = decide((capability,), holding(capability), FileRequest(area="library", path="a", write=True), "write")
    assert verdict == Refusal(kind="fs-read", reason="out-of-scope")


def test_a_write_grant_allows_a_read() -> None:
    capability = FsProject(access="write")
    assert decide((capability,), holding(capability), READ, "read") is capability
    folder = FsWrite(place="notes")
    assert decide((folder,), holding(folder), FileRequest(area="notes", path="a"), "read") is folder


def test_holding_one_kind_gives_nothing_of_another() -> None:
    capability = FsRead(place="library")
    assert reason(decide((capability,), holding(capability), READ, "read")) == "not-declared"


def test_a_malformed_request_says_what_is_wrong_with_it() -> None:
    verdict = decide((FsProject(),), holding(FsProject()), FileRequest(area="project", path="../a"), "read")
    assert isinstance(verdict, Refusal)
    assert verdict.detail == (
        "a path is relative, with / between its parts, without .., empty parts, backslashes and NUL"
    )


# --- deny, allow, and what holds what


def test_deny_beats_allow() -> None:
    granted = GrantedSet(allowed=frozenset({NET.identity}), denied=frozenset({NET.identity}))
    assert reason(decide((NET,), granted, NetRequest(host="api.zotero.org"), "read")) == "not-granted"


def test_a_capability_that_asks_for_less_than_was_granted_is_held() -> None:
    wide = Net(hosts=("api.zotero.org", "api.crossref.org"))
    assert decide((NET,), holding(wide), NetRequest(host="api.zotero.org"), "read") is NET


def test_a_capability_that_asks_for_more_than_was_granted_is_not_held() -> None:
    wide = Net(hosts=("api.zotero.org", "api.crossref.org"))
    assert reason(decide((wide,), holding(NET), NetRequest(host="api.zotero.org"), "read")) == "not-granted"


def test_a_denied_part_of_a_wider_grant_is_denied() -> None:
    wide = Net(hosts=("api.zotero.org", "api.crossref.org"))
    granted = GrantedSet(allowed=frozenset({wide.identity}), denied=frozenset({NET.identity}))
    assert reason(decide((NET,), granted, NetRequest(host="api.zotero.org"), "read")) == "not-granted"


def test_a_wildcard_forced_into_a_grant_gives_nothing() -> None:
    forced = 'net {"hosts": ["*"], "ports": [443], "private": false, "readMethods": ["GET", "HEAD"]}'
    granted = GrantedSet(allowed=frozenset({forced}))
    assert reason(decide((NET,), granted, NetRequest(host="api.zotero.org"), "read")) == "not-granted"


def test_an_unreadable_identity_in_a_grant_gives_nothing() -> None:
    granted = GrantedSet(allowed=frozenset({"net", "net {", "", "net 5"}))
    assert reason(decide((NET,), granted, NetRequest(host="api.zotero.org"), "read")) == "not-granted"


# --- posture


def test_a_call_that_reads_may_not_write() -> None:
    capability = FsProject(access="write")
    verdict = decide((capability,), holding(capability), WRITE, "read")
    assert verdict == Refusal(
        kind="fs-project", reason="out-of-scope", detail="it runs with posture read, which changes nothing",
        cause="posture",
    )  # fmt: skip


def test_a_call_that_writes_may() -> None:
    capability = FsProject(access="write")
    assert decide((capability,), holding(capability), WRITE, "write") is capability


def test_a_call_that_reads_may_run_no_command() -> None:
    capability = Process(commands=("latexmk",))
    request = ProcessRequest(command="latexmk")
    assert reason(decide((capability,), holding(capability), request, "read")) == "out-of-scope"


def test_a_call_that_reads_may_use_only_methods_that_read() -> None:
    post = NetRequest(host="api.zotero.org", method="POST")
    assert reason(decide((NET,), holding(NET), post, "read")) == "out-of-scope"
    assert decide((NET,), holding(NET), post, "write") is NET


def test_one_of_two_capabilities_that_lets_the_method_read_is_enough() -> None:
    search = Net(hosts=("api.zotero.org",), read_methods=("POST",))
    post = NetRequest(host="api.zotero.org", method="POST")
    assert decide((NET, search), holding(NET, search), post, "read") is search


def test_a_call_that_reads_may_use_only_remote_tools_that_the_user_marked() -> None:
    capability = McpClient(servers=("a",))
    request = McpRequest(server="a", tool="t")
    assert reason(decide((capability,), holding(capability), request, "read")) == "out-of-scope"
    marked = McpRequest(server="a", tool="t", read=True)
    assert decide((capability,), holding(capability), marked, "read") is capability


# --- kinds of other hosts


@attrs.frozen(kw_only=True)
class Panel(Capability):
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


def test_a_kind_of_another_host_is_decided_alike() -> None:
    left = Panel(side="left")
    request = Request(kinds=("panel",), target="left")
    assert decide((left,), holding(left), request, "write") is left
    assert reason(decide((left,), GrantedSet(), request, "write")) == "not-granted"
    assert reason(decide((left,), holding(left), Request(kinds=("panel",), target="right"), "write")) == "out-of-scope"
    assert reason(decide((), holding(left), request, "write")) == "not-declared"


# --- the broker


def test_a_refusal_is_raised_and_recorded(setup: Setup) -> None:
    setup.hold(NET)
    with pytest.raises(CapabilityError) as caught:
        setup.broker().require(NetRequest(host="evil.org"), setup.frame())
    assert str(caught.value) == "zotero: 'net' is granted, but not for this"
    assert (caught.value.plugin, caught.value.kind, caught.value.reason) == ("zotero", "net", "out-of-scope")
    assert caught.value.target == "GET https://evil.org:443"
    (entry,) = setup.denials.of("zotero")
    assert entry.pop("time").startswith("20")
    assert entry == {
        "plugin": "zotero",
        "capability": "net",
        "target": "GET https://evil.org:443",
        "reason": "out-of-scope",
        "where": "tools cite-item",
    }


def test_what_is_allowed_leaves_no_record(setup: Setup) -> None:
    setup.hold(NET)
    assert setup.broker().require(NetRequest(host="api.zotero.org"), setup.frame()) is NET
    assert setup.recorded() == []


def test_asking_without_acting_leaves_no_record(setup: Setup) -> None:
    setup.hold(FsProject())
    broker = setup.broker()
    assert broker.allows(READ)
    assert not broker.allows(WRITE)
    assert setup.recorded() == []


def test_asking_without_a_posture_leaves_posture_out(setup: Setup) -> None:
    setup.hold(FsProject(access="write"))
    assert setup.broker().allows(WRITE)
    assert not setup.broker().allows(WRITE, posture="read")


def test_a_revocation_counts_from_the_next_request_on(setup: Setup) -> None:
    setup.hold(NET)
    broker = setup.broker()
    broker.require(NetRequest(host="api.zotero.org"), setup.frame())
    setup.granted = GrantedSet(allowed=setup.granted.allowed, denied=frozenset({NET.identity}))
    with pytest.raises(CapabilityError) as caught:
        broker.require(NetRequest(host="api.zotero.org"), setup.frame())
    assert caught.value.reason == "not-granted"


def test_the_frame_of_another_plugin_is_no_context(setup: Setup) -> None:
    setup.hold(NET)
    frame = Frame(plugin="other", version="1", where="onload", call=Call(posture="write"))
    with pytest.raises(NoContext):
        setup.broker().require(NetRequest(host="api.zotero.org"), frame)
    assert setup.recorded() == []


def test_a_refusal_stands_where_it_cannot_be_recorded(setup: Setup, caplog: pytest.LogCaptureFixture) -> None:
    setup.home.folder.mkdir()
    (setup.home.folder / "denials").write_text("in the way")
    with caplog.at_level(logging.ERROR), pytest.raises(CapabilityError):
        setup.broker().require(NetRequest(host="evil.org"), setup.frame())
    assert "a denial of zotero (net, not-declared) could not be recorded" in caplog.text


def test_every_refusal_of_a_plugin_is_kept_in_order(setup: Setup) -> None:
    setup.hold(McpClient(servers=("a",)))
    broker = setup.broker()
    for server in ("A", "b", ""):
        with pytest.raises(CapabilityError):
            broker.require(McpRequest(server=server), setup.frame())
    assert setup.recorded() == [("mcp-client", server, "out-of-scope") for server in ("A", "b", "")]
