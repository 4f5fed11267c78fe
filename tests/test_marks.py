from __future__ import annotations

from typing import Any

import pytest

from yazcore.marks import Mark, read_marks
from yazcore.violations import YazError


def test_marks_are_read_by_plugin_and_tool() -> None:
    settings = {"plugins": {
        "zotero": {"bibliography": "x", "tools": {"cite-item": {"approval": "ask"}, "search": {"posture": "write"}}},
        "demo": {"tools": {"a": {"approval": "ask", "posture": "write"}, "b": {}}},
    }}  # fmt: skip
    assert read_marks(settings) == {
        ("zotero", "cite-item"): Mark(ask=True), ("zotero", "search"): Mark(write=True),
        ("demo", "a"): Mark(ask=True, write=True), ("demo", "b"): Mark(),
    }  # fmt: skip


@pytest.mark.parametrize(
    "settings", [{}, {"plugins": []}, {"plugins": {"demo": 1}}, {"plugins": {"demo": {"tools": "mine"}}}]
)
def test_without_a_table_of_tools_there_is_no_mark(settings: dict[str, Any]) -> None:
    assert read_marks(settings) == {}


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ("ask", "settings.toml: plugins.demo.tools.a is no table"),
        ({"aproval": "ask"}, "settings.toml: plugins.demo.tools.a.aproval is no mark"),
        ({"approval": "none"}, 'settings.toml: plugins.demo.tools.a.approval can only say "ask"'),
        ({"posture": "read"}, 'settings.toml: plugins.demo.tools.a.posture can only say "write"'),
        ({"approval": True}, 'settings.toml: plugins.demo.tools.a.approval can only say "ask"'),
    ],
)
def test_a_mark_that_cannot_be_understood_is_never_passed_over(marks: Any, message: str) -> None:
    with pytest.raises(YazError) as raised:
        read_marks({"plugins": {"demo": {"tools": {"a": marks}}}})
    assert (raised.value.code, raised.value.message) == ("mark-broken", message)
