"""JSON text, changed to say something else: what stays the same stays byte for byte, what is new is written in the
text's own style.

For a file that a person keeps. Neither the order of keys nor spaces nor the way a number or a letter is written ever
changes because of something else in the file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

import attrs

from yazcore.contributions import same_json

WIDTH = 110
"""The longest line in which an object or a list is written on one line, in characters."""


def updated(text: str, value: Any) -> str:
    """The text of a document, changed to say `value`, which is plain data.

    `text` is well-formed JSON in which no key stands twice in one object, and which is not nested too deeply to be
    walked. A key that is new in an object stands behind the one that it follows in `value`.
    """
    root = _node(text, _past_space(text, 0))
    return text[: root.start] + _Writer(text, _Style.of(text, root)).again(root, value) + text[root.end :]


# -- what a text holds, and where -------------------------------------------------------------------------------------


@attrs.frozen
class _Slot:
    """One member of an object, or one entry of a list: `start` is where its key or value begins."""

    start: int
    key: str | None
    node: _Node


@attrs.frozen
class _Node:
    """One value: where it stands, what it is, and what is in it; `slots` is empty for what holds nothing."""

    start: int
    end: int
    value: Any
    slots: tuple[_Slot, ...] = ()


_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None, "the pattern matches nothing as well"
    return found.end()


def _node(text: str, at: int) -> _Node:
    if text[at] not in "{[":
        value, end = _decoder.raw_decode(text, at)
        return _Node(at, end, value)
    is_object = text[at] == "{"
    slots: list[_Slot] = []
    place = _past_space(text, at + 1)
    while text[place] not in "}]":
        key, start = None, place
        if is_object:
            key, place = _decoder.raw_decode(text, place)
            place = _past_space(text, _past_space(text, place) + 1)  # the colon
        slots.append(_Slot(start, key, _node(text, place)))
        place = _past_space(text, slots[-1].node.end)
        if text[place] == ",":
            place = _past_space(text, place + 1)
    value = {one.key: one.node.value for one in slots} if is_object else [one.node.value for one in slots]
    return _Node(at, place + 1, value, tuple(slots))


def _inside(node: _Node) -> Iterator[_Node]:
    """Everything that holds something, the outermost first."""
    if node.slots:
        yield node
        for slot in node.slots:
            yield from _inside(slot.node)


def _gap(text: str, node: _Node, index: int) -> str:
    """The space before a slot."""
    start = text.index(",", node.slots[index - 1].node.end) if index else node.start
    return text[start + 1 : node.slots[index].start]


# -- how its author writes --------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class _Style:
    """How new values are written.

    `one_line`: the text has no line breaks. `short_on_one_line`: some objects and lists have none. `pad` is the space
    inside the brackets of such an object (`{`) or list (`[`), `gap` what follows a comma there.
    """

    newline: str
    unit: str
    colon: str
    one_line: bool
    short_on_one_line: bool
    pad: Mapping[str, str]
    gap: str

    @classmethod
    def of(cls, text: str, root: _Node) -> _Style:
        holders = list(_inside(root))
        flat = [node for node in holders if "\n" not in text[node.start : node.end]]
        tall = [node for node in holders if "\n" in _gap(text, node, 0)]
        unit = "  "
        if tall:
            outer, inner = _indent(text, tall[0].start), _gap(text, tall[0], 0).rpartition("\n")[2]
            unit = inner.removeprefix(outer) or unit
        pairs = [node for node in flat if len(node.slots) > 1]
        colons = Counter(_colon(text, slot) for node in holders for slot in node.slots if slot.key is not None)
        colon = next((usual for usual, _ in colons.most_common(1)), ": ")
        return cls(
            newline="\r\n" if "\r\n" in text else "\n",
            unit=unit,
            colon=colon,
            one_line=bool(holders) and "\n" not in text[root.start : root.end],
            short_on_one_line=bool(flat),
            pad={
                mark: next((_gap(text, node, 0) for node in flat if text[node.start] == mark), default)
                for mark, default in (("{", " "), ("[", ""))
            },
            gap=_gap(text, pairs[0], 1) if pairs else colon.partition(":")[2],
        )


def _colon(text: str, slot: _Slot) -> str:
    _, end = _decoder.raw_decode(text, slot.start)
    return text[end : slot.node.start]


def _indent(text: str, at: int) -> str:
    """What the line of a place begins with."""
    start = text.rfind("\n", 0, at) + 1
    found = re.compile(r"[ \t]*").match(text, start)
    return found[0] if found is not None else ""


# -- writing ----------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Planned:
    """What an object or a list is to hold: the old slot and its place, where there is one, and the value."""

    key: str | None
    value: Any
    index: int | None = None


class _Writer:
    def __init__(self, text: str, style: _Style) -> None:
        self._text = text
        self._style = style

    def again(self, node: _Node, value: Any) -> str:
        """The node's text, changed to say the value."""
        if same_json(node.value, value):
            return self._text[node.start : node.end]
        if node.slots and value and isinstance(value, dict) and isinstance(node.value, dict):
            return self._composed(node, _members(node, value))
        if node.slots and value and isinstance(value, list) and isinstance(node.value, list):
            return self._composed(node, _entries(node.value, value))
        return self.fresh(value, _indent(self._text, node.start))

    def _composed(self, node: _Node, planned: Sequence[_Planned]) -> str:
        text, last = self._text, len(node.slots) - 1
        first_gap = _gap(text, node, 0)
        next_gap = _gap(text, node, 1) if last else first_gap if "\n" in first_gap else self._style.gap
        parts = []
        gap = next_gap
        for number, one in enumerate(planned):
            slot = None if one.index is None else node.slots[one.index]
            if number == 0:
                gap = first_gap
            elif one.index:
                gap = _gap(text, node, one.index)
            elif number == 1:  # what is new stands as the one before it does
                gap = next_gap
            if slot is not None:
                body = text[slot.start : slot.node.start] + self.again(slot.node, one.value)
            else:
                indent = gap.rpartition("\n")[2] if "\n" in gap else _indent(text, node.start)
                body = self._member(one.key, one.value, indent)
            trail = ""
            if one.index is not None and one.index != last and number + 1 < len(planned):
                end = node.slots[one.index].node.end
                trail = text[end : text.index(",", end)]
            parts.append(gap + body + trail)
        return text[node.start] + ",".join(parts) + text[node.slots[last].node.end : node.end]

    def _member(self, key: str | None, value: Any, indent: str) -> str:
        head = "" if key is None else _scalar(key) + self._style.colon
        return head + self.fresh(value, indent, len(head))

    def fresh(self, value: Any, indent: str, used: int = 0) -> str:
        """A new value; `indent` is that of its line, on which `used` characters stand before it."""
        if not isinstance(value, (dict, list)) or not value:
            return _scalar(value)
        flat = self._on_one_line(value)
        fits = len(indent) + used + len(flat) <= WIDTH and _is_shallow(value)
        if self._style.one_line or (self._style.short_on_one_line and fits):
            return flat
        inner = indent + self._style.unit
        lines = (self._style.newline + inner + self._member(key, one, inner) for key, one in _pairs(value))
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return f"{opening}{','.join(lines)}{self._style.newline}{indent}{closing}"

    def _on_one_line(self, value: Any) -> str:
        if not isinstance(value, (dict, list)) or not value:
            return _scalar(value)
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        pad = self._style.pad[opening]
        heads = ((("" if key is None else _scalar(key) + self._style.colon), one) for key, one in _pairs(value))
        inner = f",{self._style.gap}".join(head + self._on_one_line(one) for head, one in heads)
        return f"{opening}{pad}{inner}{pad}{closing}"


def _pairs(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str | None, Any]]:
    return iter(value.items()) if isinstance(value, dict) else ((None, one) for one in value)


def _is_shallow(value: dict[str, Any] | list[Any]) -> bool:
    """Whether it is read at a glance: nothing in it holds more than plain values."""
    return not any(
        isinstance(innermost, (dict, list)) and innermost
        for _, inner in _pairs(value)
        if isinstance(inner, (dict, list))
        for _, innermost in _pairs(inner)
    )


def _scalar(value: Any) -> str:
    # what nobody would see in the file is written as JSON escapes it
    visible = not isinstance(value, str) or value.isprintable()
    return json.dumps(value, ensure_ascii=not visible, allow_nan=False)


def _members(node: _Node, value: Mapping[str, Any]) -> list[_Planned]:
    """What stays, in the text's order; each new key behind the one that it follows in `value`."""
    planned = [_Planned(str(one.key), value[str(one.key)], at) for at, one in enumerate(node.slots) if one.key in value]
    before: str | None = None
    for key, one in value.items():
        if key not in node.value:
            at = next((index for index, other in enumerate(planned) if other.key == before), -1)
            planned.insert(at + 1, _Planned(key, one))
        before = key
    return planned


def _entries(old: Sequence[Any], new: Sequence[Any]) -> list[_Planned]:
    """Entries are known again by what names them, others by being equal; those between are taken pair by pair."""
    planned: list[_Planned] = []
    matcher = SequenceMatcher(None, [_identity(one) for one in old], [_identity(one) for one in new], autojunk=False)
    for what, start, end, new_start, new_end in matcher.get_opcodes():
        for index, at in zip_longest(range(start, end), range(new_start, new_end)):
            if at is None:
                continue
            is_old = index is not None and (what == "equal" or (_is_nameless(old[index]) and _is_nameless(new[at])))
            planned.append(_Planned(None, new[at], index if is_old else None))
    return planned


_NAMES = ("id", "name", "key", "uri", "uriTemplate", "action", "kind")


def _identity(value: Any) -> str:
    named = next(((key, value[key]) for key in _NAMES if key in value), None) if isinstance(value, dict) else None
    return json.dumps(value if named is None else named, sort_keys=True)


def _is_nameless(value: Any) -> bool:
    return not isinstance(value, dict) or not any(key in value for key in _NAMES)
