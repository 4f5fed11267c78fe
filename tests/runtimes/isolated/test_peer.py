"""The threads of a worker: who reads while calls run."""

from __future__ import annotations

import itertools
from pathlib import Path

from tests.runtimes.plugins import Project, Workbench, said
from yazcore.capabilities.context import Call


def test_a_quick_call_keeps_the_reading_to_its_thread(isolated: Workbench) -> None:
    plugin = isolated.start("""
class Plugin(Base):
    def t_thread(self, context, arguments):
        return {"thread": threading.get_ident()}
""")
    threads = [said(plugin, "t_thread")["thread"] for _ in range(100)]
    # Where each call hands the reading over, no two in a row run in the same thread.
    assert any(one == following for one, following in itertools.pairwise(threads))


def test_a_call_that_waits_for_a_later_one_lets_it_be_read(isolated: Workbench) -> None:
    plugin = isolated.start("""
came = threading.Event()

class Plugin(Base):
    def t_wait(self, context, arguments):
        return {"came": came.wait(20)}

    def t_come(self, context, arguments):
        came.set()
        return {}
""")
    waiting = plugin.submit("tools", "t_wait", "handler", Call(posture="read"), {})
    assert said(plugin, "t_come") == {}
    assert waiting.result(20).structured == {"came": True}


def test_a_call_that_asks_the_host_from_a_thread_of_its_own_is_answered(isolated: Workbench, tmp_path: Path) -> None:
    plugin = isolated.start(
        """
import contextvars

class Plugin(Base):
    def t_ask(self, context, arguments):
        asked = []
        task = lambda: asked.append(context.files.list())
        thread = threading.Thread(target=contextvars.copy_context().run, args=(task,))
        thread.start()
        thread.join(20)
        return {"asked": asked}
""",
        capabilities=[{"kind": "fs-project", "access": "write"}],
    )
    project = tmp_path / "thesis"
    project.mkdir()
    call = Call(posture="read", project=Project(root=project))
    (project / "a.txt").touch()
    for _ in range(3):
        names = [entry["path"] for entry in said(plugin, "t_ask", None, call)["asked"][0]]
        assert "a.txt" in names
