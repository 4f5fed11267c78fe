from __future__ import annotations

from typing import Any

import pytest

from tests.hosts.console import CONTRACT
from tests.plugins_in_test import manifest, tool
from yazcore.home import SETTINGS, Home
from yazcore.manifest.model import Manifest
from yazcore.manifest.reading import read
from yazcore.user_settings import choices, set_value, unset
from yazcore.violations import YazError

TYPES = {"text": "string", "on": "boolean", "n": "integer", "x": "number"}


@pytest.fixture(scope="module")
def demo() -> Manifest:
    import json

    settings = [{"key": key, "type": type_, "descriptionKey": "text"} for key, type_ in TYPES.items()]
    settings[0]["default"] = "refs.bib"
    document = manifest(provides={"settings": settings, "tools": [tool("cite-item")]})
    found = read(json.dumps({**document, "module": "demo.plugin:Plugin"}).encode(), CONTRACT)
    assert found.manifest is not None, found.violations
    return found.manifest


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("text", "references.bib", "references.bib"), ("text", "", ""), ("text", "7", "7"), ("on", "true", True),
        ("on", "false", False), ("n", "-7", -7), ("x", "0.5", 0.5), ("x", "3", 3),
    ],
)  # fmt: skip
def test_a_value_is_set_in_its_own_type(home: Home, demo: Manifest, key: str, text: str, value: Any) -> None:
    assert set_value(home, [demo], f"demo.{key}", text) == value
    assert home.settings() == {"plugins": {"demo": {key: value}}}


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("on", "yes", "'yes' is not true or false, and demo.on is true or false"),
        ("on", "1", "'1' is not true or false, and demo.on is true or false"),
        ("n", "1.5", "'1.5' is not a whole number, and demo.n is a whole number"),
        ("n", "true", "'true' is not a whole number, and demo.n is a whole number"),
        ("n", "", "'' is not a whole number, and demo.n is a whole number"),
        ("x", "one", "'one' is not a number, and demo.x is a number"),
    ],
)
def test_a_value_of_another_type_is_refused(home: Home, demo: Manifest, key: str, text: str, said: str) -> None:
    with pytest.raises(YazError) as raised:
        set_value(home, [demo], f"demo.{key}", text)
    assert (raised.value.code, raised.value.message) == ("setting-value", said)
    assert not home.path(SETTINGS).exists()


@pytest.mark.parametrize(
    ("key", "said", "fix"),
    [
        ("dema.text", "no plugin 'dema' is installed", 'did you mean "demo"?'),
        ("demo.txet", "demo has no setting 'txet'", 'did you mean "text"?'),
        ("demo", "demo has no setting ''", 'known are "text", "on", "n", "x"'),
        ("demo.tools.cite.approval", "demo has no tool 'cite'", 'did you mean "cite-item"?'),
        ("demo.tools.cite-item.aproval", "'aproval' is nothing that can be marked", 'did you mean "approval"?'),
        ("demo.text.more", "demo has no setting 'text.more'", 'did you mean "text"?'),
    ],
)
def test_a_key_that_is_none_is_refused_with_one_that_is(
    home: Home, demo: Manifest, key: str, said: str, fix: str
) -> None:
    for act in (lambda: set_value(home, [demo], key, "x"), lambda: unset(home, [demo], key)):
        with pytest.raises(YazError) as raised:
            act()
        assert (raised.value.code, raised.value.message) == ("setting-unknown", said)
        assert raised.value.fix == fix


def test_a_mark_makes_a_tool_stricter_and_nothing_else(home: Home, demo: Manifest) -> None:
    set_value(home, [demo], "demo.tools.cite-item.approval", "ask")
    set_value(home, [demo], "demo.tools.cite-item.posture", "write")
    assert home.settings() == {"plugins": {"demo": {"tools": {"cite-item": {"approval": "ask", "posture": "write"}}}}}
    for key, text in (("approval", "none"), ("posture", "read")):
        with pytest.raises(YazError, match="a mark makes a tool stricter"):
            set_value(home, [demo], f"demo.tools.cite-item.{key}", text)


def test_all_else_in_the_file_stays_as_it_is(home: Home, demo: Manifest) -> None:
    text = (
        '# mine\nroots = ["~/theses"]  # two\n\n[plugins.demo]\nn = 1 # one\n\n[servers.x]\ncommand = "y"\n\n'
        '[plugins.other]\na = 1\n'
    )
    home.write_text(SETTINGS, text)
    set_value(home, [demo], "demo.n", "2")
    set_value(home, [demo], "demo.text", "refs.bib")
    set_value(home, [demo], "demo.tools.cite-item.approval", "ask")
    written = home.path(SETTINGS).read_text()
    for part in ("# mine", "# two", "# one", '[servers.x]\ncommand = "y"', "[plugins.other]\na = 1"):
        assert part in written
    assert home.settings()["plugins"] == {
        "demo": {"n": 2, "text": "refs.bib", "tools": {"cite-item": {"approval": "ask"}}}, "other": {"a": 1}
    }  # fmt: skip


def test_what_is_unset_leaves_no_empty_table(home: Home, demo: Manifest) -> None:
    home.write_text(SETTINGS, "roots = []\n")
    set_value(home, [demo], "demo.tools.cite-item.approval", "ask")
    set_value(home, [demo], "demo.n", "1")
    assert unset(home, [demo], "demo.tools.cite-item.approval")
    assert home.settings() == {"roots": [], "plugins": {"demo": {"n": 1}}}
    assert unset(home, [demo], "demo.n")
    assert home.settings() == {"roots": []}
    assert not unset(home, [demo], "demo.n")


def test_what_is_broken_is_not_written_over(home: Home, demo: Manifest) -> None:
    home.write_text(SETTINGS, "a = \n")
    with pytest.raises(YazError) as raised:
        set_value(home, [demo], "demo.n", "1")
    assert raised.value.code == "settings-broken"
    assert home.path(SETTINGS).read_text() == "a = \n"


def test_everything_that_can_be_set_is_listed_with_the_marks_that_are(home: Home, demo: Manifest) -> None:
    set_value(home, [demo], "demo.on", "true")
    set_value(home, [demo], "demo.tools.cite-item.posture", "write")
    assert [(one.key, one.value, one.default) for one in choices(home, [demo])] == [
        ("demo.text", None, "refs.bib"), ("demo.on", True, None), ("demo.n", None, None), ("demo.x", None, None),
        ("demo.tools.cite-item.posture", "write", "read"),
    ]  # fmt: skip
