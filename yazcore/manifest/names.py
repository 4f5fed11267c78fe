"""Ids, names and keys: what they may look like, and when two of them are the same (design 4, 7).

`fullmatch` everywhere, on classes of ASCII: a trailing newline or a digit of another script is no part of a name (P-1).
"""

from __future__ import annotations

import re

LONGEST_ID = 24
"""The longest plugin id, in characters."""

LONGEST_NAME = 48
"""The longest name of a contribution, in characters."""

LONGEST_EXPOSED = 48
"""The longest name an agent sees, `<id>__<name>`, in characters: clients add prefixes of their own."""

LONGEST_KEY = 100
"""The longest message key, in characters."""

LONGEST_VERSION = 64
"""The longest version, in characters: each of its numbers is compared, and one may not be endless."""

ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
"""The form of a plugin's id."""

NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
"""The form of the name of a tool, a prompt, a command, a format or a setting."""

MESSAGE_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
"""The form of a message key."""

ACTION_WORD = re.compile(r"[a-z][a-z0-9-]*")
"""The form of what stands behind the colon of a permission."""


def _any_case(words: str) -> str:
    return "".join(f"[{letter}{letter.upper()}]" if letter.isalpha() else letter for letter in words)


VERSION = re.compile(
    r"[vV]?(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*"
    rf"(?:[-_.]?(?:{_any_case('alpha|beta|preview|pre|a|b|c|rc')})[-_.]?[0-9]*)?"
    rf"(?:-[0-9]+|[-_.]?(?:{_any_case('post|rev|r')})[-_.]?[0-9]*)?"
    rf"(?:[-_.]?{_any_case('dev')}[-_.]?[0-9]*)?"
    r"(?:\+[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*)?"
)
"""The form of a version (PEP 440), without the spaces around it that `packaging` would take."""


def is_id(text: str) -> bool:
    """Whether a text may be a plugin's id."""
    return len(text) <= LONGEST_ID and ID.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Whether a text may name a tool, a prompt, a command, a format or a setting."""
    return len(text) <= LONGEST_NAME and NAME.fullmatch(text) is not None


def is_message_key(text: str) -> bool:
    """Whether a text may be a message key: an identifier of Fluent (Y-6)."""
    return len(text) <= LONGEST_KEY and MESSAGE_KEY.fullmatch(text) is not None


def is_action_word(text: str) -> bool:
    """Whether a text may stand behind the colon of a permission."""
    return len(text) <= LONGEST_NAME and ACTION_WORD.fullmatch(text) is not None


def is_version(text: str) -> bool:
    """Whether a text may be a version."""
    return len(text) <= LONGEST_VERSION and VERSION.fullmatch(text) is not None


def exposed(plugin: str, name: str, own: bool) -> str:
    """The name agents see: `zotero__search-library`; the host's own carries no prefix."""
    return name if own else f"{plugin}__{name}"


def folded(name: str) -> str:
    """Two names that are equal after this never coexist."""
    return name.lower().replace("-", "_")
