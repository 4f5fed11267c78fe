"""Which thread of a worker reads while calls run."""

from __future__ import annotations

from pathlib import Path

from tests.runtimes.plugins import Project, Workbench, said
from yazcore.capabilities.context import Call

PROJECT = [{"kind": "fs-project"}]
NOBODY_LOOKS = """
from yazcore.runtimes.isolated import leadership

leadership.MOMENT_SECONDS = 3600

"""
"""From its first call on, the main thread sleeps."""


def test_a_quick_call_keeps_the_lead(isolated: Workbench) -> None:
    plugin = isolated.start(
        NOBODY_LOOKS
        + """
class Plugin(Base):
    def t_thread(self, context, arguments):
        return {"thread": threading.get_ident()}
"""
    )
    assert len({said(plugin, "t_thread")["thread"] for _ in range(100)}) == 1


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


def test_a_call_that_asks_the_host_gives_the_lead_away_itself(isolated: Workbench, tmp_path: Path) -> None:
    plugin = isolated.start(
        NOBODY_LOOKS
        + """
class Plugin(Base):
    def t_ask(self, context, arguments):
        return {"names": [one["path"] for one in context.files.list()]}
""",
        capabilities=PROJECT,
    )
    call = in_project(tmp_path)
    assert [said(plugin, "t_ask", None, call) for _ in range(3)] == [{"names": ["a.txt"]}] * 3


def test_so_does_one_that_asks_from_a_thread_of_its_own(isolated: Workbench, tmp_path: Path) -> None:
    plugin = isolated.start(
        NOBODY_LOOKS
        + """
import contextvars

class Plugin(Base):
    def t_ask(self, context, arguments):
        asked = []
        task = lambda: asked.extend(one["path"] for one in context.files.list())
        thread = threading.Thread(target=contextvars.copy_context().run, args=(task,))
        thread.start()
        thread.join(20)
        return {"names": asked}
""",
        capabilities=PROJECT,
    )
    call = in_project(tmp_path)
    assert [said(plugin, "t_ask", None, call) for _ in range(3)] == [{"names": ["a.txt"]}] * 3


def test_a_kind_of_call_that_gave_the_lead_away_does_so_at_once_the_next_time(
    isolated: Workbench, tmp_path: Path
) -> None:
    plugin = isolated.start(
        NOBODY_LOOKS
        + """
came = threading.Event()

class Plugin(Base):
    def t_ask_or_wait(self, context, arguments):
        return {"came": came.wait(20)} if arguments["wait"] else {"asked": len(context.files.list())}

    def t_come(self, context, arguments):
        came.set()
        return {}
""",
        capabilities=PROJECT,
    )
    call = in_project(tmp_path)
    assert said(plugin, "t_ask_or_wait", {"wait": False}, call) == {"asked": 1}
    waiting = plugin.submit("tools", "t_ask_or_wait", "handler", call, {"wait": True})
    assert said(plugin, "t_come") == {}
    assert waiting.result(20).structured == {"came": True}


def in_project(folder: Path) -> Call:
    """A call in a project with one file."""
    root = folder / "thesis"
    root.mkdir()
    (root / "a.txt").touch()
    return Call(posture="read", project=Project(root=root))
