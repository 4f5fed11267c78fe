"""The cause that is recorded with a refusal, as each service gives it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.capabilities.conftest import PLUGIN, Setup
from yazcore.capabilities.broker import GrantedSet, Refusal, decide
from yazcore.capabilities.commands import Program, at
from yazcore.capabilities.errors import CapabilityError
from yazcore.capabilities.services import FileService
from yazcore.capabilities.services.data_folder import DataFolder
from yazcore.capabilities.services.processes import ProcessService
from yazcore.declarations import Posture
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
    ProcessRequest,
    Request,
)

NET = Net(hosts=("a.example.org",))
CHECKER = McpClient(servers=("checker",))


@pytest.mark.parametrize(
    ("capability", "request_", "posture", "cause"),
    [
        (FsProject(access="write"), FileRequest(area="project", path="a", write=True), "read", "posture"),
        (Process(commands=("tex",)), ProcessRequest(command="tex"), "read", "posture"),
        (NET, NetRequest(host="a.example.org", method="POST"), "read", "posture"),
        (CHECKER, McpRequest(server="checker", tool="check"), "read", "unmarked-tool"),
        (CHECKER, McpRequest(server="other", tool="check"), "read", ""),
        (FsProject(), FileRequest(area="project", path="../a"), "write", "malformed"),
        (FsProject(), FileRequest(area="project", path=".env"), "write", "protected"),
        (FsProject(), FileRequest(area="project", path="Makefile", write=True), "write", "protected"),
        (FsProject(paths=("b",)), FileRequest(area="project", path="Makefile"), "write", ""),
        (FsRead(place="data"), FileRequest(area="data", path="/a"), "write", "malformed"),
        (FsRead(place="data"), FileRequest(area="data", path=".env", write=True), "write", ""),
        (NET, NetRequest.of_url("GET", "https://a b/"), "write", "malformed"),
        (NET, NetRequest(host="a.example.org", address="127.0.0.1"), "write", "address"),
        (NET, NetRequest(host="b.example.org"), "write", ""),
    ],
)
def test_the_broker_says_why_in_a_word(
    capability: Capability, request_: Request, posture: Posture, cause: str
) -> None:
    verdict = decide((capability,), GrantedSet(allowed=frozenset({capability.identity})), request_, posture)
    assert isinstance(verdict, Refusal)
    assert (verdict.reason, verdict.cause) == ("out-of-scope", cause)


def test_what_no_grant_would_allow_has_its_cause_also_where_nothing_is_granted() -> None:
    for path, cause in (("../a", "malformed"), (".env", "protected"), ("a", "")):
        verdict = decide((FsProject(),), GrantedSet(), FileRequest(area="project", path=path), "write")
        assert isinstance(verdict, Refusal)
        assert (verdict.reason, verdict.cause) == ("not-granted", cause)


def recorded(setup: Setup, act: Callable[[], Any], **call: Any) -> tuple[str, str]:
    """The reason and the cause with which it is recorded that this was refused."""
    with setup.call(**call), pytest.raises(CapabilityError):
        act()
    denial = setup.denials.of(PLUGIN)[-1]
    return denial["reason"], denial.get("cause", "")


def test_a_link_that_leads_out_and_what_is_no_file(setup: Setup, root: Path) -> None:
    (root / "link").symlink_to("/etc/hostname")
    os.mkfifo(root / "fifo")
    setup.hold(FsProject())
    assert recorded(setup, lambda: setup.files().read_bytes("link")) == ("out-of-scope", "link")
    assert recorded(setup, lambda: setup.files().read_bytes("fifo")) == ("out-of-scope", "not-a-file")
    assert recorded(setup, lambda: setup.files().stat("fifo")) == ("out-of-scope", "not-a-file")


def test_a_link_to_what_is_protected(setup: Setup, root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    (root / "link").symlink_to(".env")
    setup.hold(FsProject())
    assert recorded(setup, lambda: setup.files().read_bytes("link")) == ("out-of-scope", "protected")


def test_a_call_about_no_project(setup: Setup) -> None:
    setup.hold(FsProject())
    assert recorded(setup, lambda: setup.files().read_bytes("a"), project=False) == ("out-of-scope", "no-project")


def test_a_place_without_a_folder_and_one_whose_folder_has_gone(setup: Setup, tmp_path: Path) -> None:
    setup.hold(FsRead(place="data"))
    reading: Callable[[FileService], Any] = lambda files: files.read_bytes("a", place="data")  # noqa: E731
    assert recorded(setup, lambda: reading(setup.files())) == ("not-granted", "place-unbound")
    setup.hold(FsRead(place="data"), places={"data": tmp_path / "gone"})
    assert recorded(setup, lambda: reading(setup.files())) == ("out-of-scope", "folder-gone")


def test_a_folder_that_nobody_is_given(setup: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup.hold(FsRead(place="data"), places={"data": Path("/etc")})
    assert recorded(setup, lambda: setup.files().read_bytes("a", place="data")) == ("out-of-scope", "folder-closed")
    monkeypatch.syspath_prepend(tmp_path)
    setup.hold(FsWrite(place="data"), places={"data": tmp_path})
    act = lambda: setup.files().write_text("a", "a", place="data")  # noqa: E731
    assert recorded(setup, act) == ("out-of-scope", "folder-closed")


def test_a_program_that_is_not_there_not_the_same_or_open_to_all(setup: Setup, tmp_path: Path) -> None:
    setup.hold(Process(commands=("tool",)))

    def refused(commands: dict[str, str] | None) -> tuple[str, str]:
        setup.granted = attrs.evolve(setup.granted, commands=commands)
        data = DataFolder(folder=setup.home.plugin_data(PLUGIN), quota=10**6)
        return recorded(setup, lambda: ProcessService(setup.broker(), PLUGIN, data).run("tool"))

    assert refused({}) == ("not-granted", "program-missing")
    assert refused(None) == ("not-granted", "program-absent")
    own = tmp_path / "tool"
    shutil.copy(os.path.realpath(sys.executable), own)
    program = at(str(own))
    assert isinstance(program, Program)
    own.write_bytes(b"other")
    assert refused({"tool": str(program)}) == ("not-granted", "program-changed")
    own.chmod(0o757)
    assert refused({"tool": str(program)}) == ("not-granted", "program-unfit")
    own.unlink()
    assert refused({"tool": str(program)}) == ("not-granted", "program-missing")
