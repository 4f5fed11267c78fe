"""What a plugin's author tests with: the plugin in a real host, called through the real gate.

    from yazcore.testing import plugin_host

    def test_words_are_counted():
        with plugin_host("word-count") as plugin:          # an installed id, or a folder
            outcome = plugin.call("count-words", {"text": "one two"})
        assert outcome.structured == {"words": 2}

Nothing is faked but the home folder, which is new and empty: the manifest is read and compared with what the hooks
register, the plugin is granted what it asks for, and a call takes the path of every call. Importing this registers
nothing with pytest and loads no room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yazcore.testing.plugin import PluginUnderTest as PluginUnderTest
    from yazcore.testing.plugin import plugin_host as plugin_host

__all__ = ["PluginUnderTest", "plugin_host"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'yazcore.testing' has no attribute {name!r}")
    from yazcore.testing import plugin

    return getattr(plugin, name)
