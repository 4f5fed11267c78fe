"""Plugins that break while they are started: each is refused or failed with a reason, and the others go on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.hosts import called, host_with, states, tools
from yazcore import remove_tree, trees

GOOD = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("t", lambda context, arguments: {"fine": True})]
"""


def plugin(
    init: str = "pass", hook: str = "return [Tool('t', lambda c, a: {})]", load: str = "pass", more: str = "pass"
) -> str:
    return f"""
class Plugin:
    def __init__(self, context):
        {init}

    @hookimpl
    def provide_tools(self):
        {hook}

    @hookimpl
    def onload(self):
        {load}

    {more}
"""


ODD = {
    "import panics": "raise Panic('x')",
    "import interrupts": "raise KeyboardInterrupt",
    "constructor panics": plugin(init="raise Panic('x')"),
    "constructor interrupts": plugin(init="raise KeyboardInterrupt"),
    "constructor is cancelled": plugin(init="raise asyncio.CancelledError"),
    "hook panics": plugin(hook="raise Panic('x')"),
    "hook interrupts": plugin(hook="raise KeyboardInterrupt"),
    "hook is cancelled": plugin(hook="raise asyncio.CancelledError"),
    "onload panics": plugin(load="raise Panic('x')"),
    "onload interrupts": plugin(load="raise KeyboardInterrupt"),
    "its names cannot be listed": plugin(more="def __dir__(self): raise ValueError('dir')"),
    "none of its names can be had": plugin(more="def __getattribute__(self, name): raise ValueError(name)"),
    "a hook without a signature": """
def hook(self): return []
hook.__signature__ = 42
class Plugin:
    def __init__(self, context): pass
    provide_tools = hookimpl(hook)
""",
    "a list of its own kind": plugin(hook="return L([])", more="x = 1")
    + "\nclass L(list):\n    def __iter__(self): raise Panic('iter')\n",
    "a name of its own kind": plugin(hook="return [Tool(S('t'), print)]")
    + "\nclass S(str):\n    def __str__(self): raise ValueError('str')\n",
    "a schema of its own kind": plugin(hook="return [Tool('t', print, input_schema=D())]")
    + "\nclass D(dict):\n    def keys(self): raise ValueError('keys')\n",
    "a handler nobody can look at": plugin(hook="return [Tool('t', H())]")
    + "\nclass H:\n    def __call__(self, c, a): pass\n    def __getattr__(self, name): raise ValueError(name)\n",
}


@pytest.mark.parametrize("case", ODD)
def test_a_plugin_that_breaks_while_it_is_started_leaves_nothing_and_the_others_go_on(
    tmp_path: Path, case: str
) -> None:
    bad, good = ("bad", ODD[case], tools(["t"])), ("good", GOOD, tools(["t"]))
    with host_with(tmp_path, bad, good) as host:
        assert states(host) == {"bad": "failed", "good": "active"}
        assert list(host.catalogue.now.plugins) == ["good"]
        assert host.hook.provide_tools.get_hookimpls()[0].plugin_name == "good"
        assert len(host.hook.provide_tools.get_hookimpls()) == 1
        assert called(host, "good__t").structured == {"fine": True}


def test_a_data_folder_that_is_a_file_fails_its_plugin_only(tmp_path: Path) -> None:
    (tmp_path / "home" / "data").mkdir(parents=True)
    (tmp_path / "home" / "data" / "bad").write_text("no folder")
    with host_with(tmp_path, ("bad", GOOD, tools(["t"])), ("good", GOOD, tools(["t"]))) as host:
        assert states(host) == {"bad": "failed", "good": "active"}
        assert "data" not in str(host.plugins()[0].reasons) or str(tmp_path) not in str(host.plugins()[0].reasons)


BOTTOMLESS = """
class Plugin:
    def __init__(self, context):
        folder = str(context.data_folder)
        for _ in range(1500):
            folder += "/d"
            if not os.path.isdir(folder):
                os.mkdir(folder)

    @hookimpl
    def provide_tools(self):
        return [Tool("t", lambda context, arguments: {"fine": True})]
"""


def test_a_folder_without_bottom_in_a_data_folder_keeps_nobody_from_starting(tmp_path: Path) -> None:
    plugins: tuple[Any, ...] = (("bad", BOTTOMLESS, tools(["t"])), ("good", GOOD, tools(["t"])))
    try:
        for _ in range(2):  # the second host finds what the first left
            with host_with(tmp_path, *plugins) as host:
                assert states(host) == {"bad": "active", "good": "active"}
    finally:
        remove_tree(tmp_path / "home")


def test_a_data_folder_with_too_many_files_fails_its_plugin_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MOST_ENTRIES", 3)
    (tmp_path / "home" / "data" / "bad" / "a" / "b" / "c" / "d").mkdir(parents=True)
    with host_with(tmp_path, ("bad", GOOD, tools(["t"])), ("good", GOOD, tools(["t"]))) as host:
        assert states(host) == {"bad": "failed", "good": "active"}
        (reason,) = host.plugins()[0].reasons
        assert reason == (
            "its data folder cannot be used: there are more than 3 files and folders in the data folder: "
            "delete what is not needed there"
        )


def test_onunload_that_panics_does_not_keep_a_plugin_in(tmp_path: Path) -> None:
    code = GOOD + "\n    @hookimpl\n    def onunload(self):\n        raise Panic('x')\n"
    with host_with(tmp_path, ("bad", code, tools(["t"]))) as host:
        host.deactivate("bad")
        assert host.catalogue.now.tools == {}
        assert "onunload raised Panic" in host.plugins()[0].reasons[0]


def test_a_call_that_hangs_does_not_wait_for_another_plugins_activation(tmp_path: Path) -> None:
    """What an overdue call leaves behind is noted on the server's loop, which must not stand still for a start."""
    hangs = """
release = threading.Event()
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("t", lambda context, arguments: {"waited": release.wait(30)})]

    @hookimpl
    def onunload(self):
        release.set()
"""
    slow = GOOD + "\n    @hookimpl\n    def onunload(self):\n        import builtins\n        builtins.attack_wait()\n"
    import builtins

    leaving, left = threading.Event(), threading.Event()

    def wait() -> None:
        leaving.set()
        left.wait(4)

    builtins.attack_wait = wait  # type: ignore[attr-defined]
    plugins: tuple[Any, ...] = (("hangs", hangs, tools(["t"], deadlineSeconds=1)), ("slow", slow, tools(["t"])))
    try:
        with host_with(tmp_path, *plugins) as host:
            taking_out = threading.Thread(target=host.deactivate, args=("slow",))
            taking_out.start()
            assert leaving.wait(10)
            assert "did not answer" in called(host, "hangs__t").text
            was_still_leaving = taking_out.is_alive()
            left.set()
            taking_out.join()
            assert was_still_leaving
    finally:
        del builtins.attack_wait  # type: ignore[attr-defined]


def test_a_call_in_the_moment_its_plugin_leaves_is_an_outcome(tmp_path: Path) -> None:
    with host_with(tmp_path, ("good", GOOD, tools(["t"]))) as host:
        active = host.catalogue.now.plugins["good"]
        active.running.close()  # as if the call had looked the tool up just before
        assert called(host, "good__t").is_error
