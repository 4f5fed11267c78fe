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

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_ACTION_WORD = re.compile(r"[a-z][a-z0-9-]*")


def is_id(text: str) -> bool:
    """Whether a text may be a plugin's id."""
    return len(text) <= LONGEST_ID and _ID.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Whether a text may name a tool, a prompt, a command, a format or a setting."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def is_message_key(text: str) -> bool:
    """Whether a text may be a message key: an identifier of Fluent (Y-6)."""
    return len(text) <= LONGEST_KEY and _KEY.fullmatch(text) is not None


def is_action_word(text: str) -> bool:
    """Whether a text may stand behind the colon of a permission."""
    return len(text) <= LONGEST_NAME and _ACTION_WORD.fullmatch(text) is not None


def exposed(plugin: str, name: str, own: bool) -> str:
    """The name agents see: `zotero__search-library`; the host's own carries no prefix."""
    return name if own else f"{plugin}__{name}"


def folded(name: str) -> str:
    """Two names that are equal after this never coexist."""
    return name.lower().replace("-", "_")
