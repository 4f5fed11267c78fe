"""The plugin in a real yaz: found as it is installed, granted as a user grants it, called through the real gate."""

from collections.abc import Iterator

import pytest
from yazcore.testing import PluginUnderTest, plugin_host


@pytest.fixture
def plugin() -> Iterator[PluginUnderTest]:
    with plugin_host("{{ cookiecutter.plugin_id }}") as plugin:
        yield plugin


def test_it_does_what_its_manifest_says(plugin: PluginUnderTest) -> None:
    assert plugin.violations == ()
    assert plugin.differences == ()
    assert plugin.state == "active"


def test_words_are_counted(plugin: PluginUnderTest) -> None:
    assert plugin.call("count-words", {"text": "one  two\nthree"}).structured == {"words": 3}


def test_a_text_without_words_is_refused_with_advice(plugin: PluginUnderTest) -> None:
    outcome = plugin.call("count-words", {"text": " "})
    assert outcome.is_error
    assert outcome.text == "the text has no words: give a text with at least one"


def test_unknown_arguments_are_refused(plugin: PluginUnderTest) -> None:
    assert plugin.call("count-words", {"text": "one", "language": "de"}).is_error


def test_people_read_their_own_language(plugin: PluginUnderTest) -> None:
    assert plugin.command("count", "one") == "1 word"
    with plugin_host("{{ cookiecutter.plugin_id }}", locale="de-DE") as german:
        assert german.command("count", "eins", "zwei") == "2 Wörter"
