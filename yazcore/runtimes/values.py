"""What may pass between the host and a plugin: plain data, checked by one codec in both runtimes (design 5).

Handler arguments and results and service answers pass through `portable`, so that a plugin behaves alike in this
process and in a worker: a tuple becomes a list, objects, lone surrogates, NaN and integers over 64 bits are refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import attrs

from yazcore.contributions import Link, Page, Result
from yazcore.parts import Ask, Audio, Embedded, Form, Image, Message, Part, Question, Roots, Sample

MAX_DEPTH = 64
"""The deepest nesting of a value."""

MAX_STRUCTURE = 2 * 2**20
"""The most bytes of a structured value (a hostile one of 32 MiB costs a host 2.3 GB and 9 s)."""

MAX_BYTES = 64 * 2**20
"""The most bytes that are a value by themselves; they travel in parts."""

# What the wire needs at most beside the content, so that what passes here passes there.
_NUMBER, _HEAD = 9, 5
_LINK_BYTES = 48
_LARGEST = 2**64 - 1
_SMALLEST = -(2**63)


class NotPortable(ValueError):
    """A value that cannot leave or enter a plugin; the text says what and where."""


class TooLarge(NotPortable):
    """A value that is plain data and too large: page it, or publish it."""


@attrs.frozen(kw_only=True)
class Answer:
    """What a tool's handler said, as plain data: the structured result, its text where the plugin chose it, the rest.

    With `ask` there is nothing else: the handler asks its caller first.
    """

    structured: dict[str, Any] | None = None
    text: str | None = None
    links: tuple[Link, ...] = ()
    parts: tuple[Part, ...] = ()
    ask: Ask | None = None


@attrs.frozen(kw_only=True)
class Spoken:
    """What a prompt's handler said: its messages, or what it asks its caller first."""

    messages: tuple[Message, ...] = ()
    ask: Ask | None = None


@attrs.frozen
class Foreign:
    """What stands in the host for a value of a worker that is not what it should be: only the name of its class."""

    name: str

    def __str__(self) -> str:
        return f"a {self.name}"


def class_of(value: object) -> str:
    """The name of a value's class, for a sentence: of one in a worker, too."""
    return value.name if isinstance(value, Foreign) else type(value).__name__


def portable(value: Any) -> Any:
    """A copy of `value` as plain data: None, bool, int, float, str, bytes, list, dict with string keys.

    Raises `NotPortable` for anything else, and where the whole is deeper than 64 or larger than 2 MiB; bytes that are
    the whole value may be up to 64 MiB, for they travel in parts.
    """
    return _whole(value) if type(value) is bytes else _copy(value, None, 0, _Budget(MAX_STRUCTURE))


def portable_arguments(values: Iterable[Any]) -> list[Any]:
    """Copies of a call's arguments as plain data; all of them together have the size of one value. `NotPortable`."""
    budget = _Budget(MAX_STRUCTURE)
    return [_copy(value, None, 0, budget) for value in values]


def readable(value: Any) -> Any:
    """What a resource's handler returned: a text, bytes, or a copy of JSON data. Raises `NotPortable`."""
    return _whole(value) if type(value) is bytes else _copy(value, None, 0, _Budget(MAX_STRUCTURE, has_bytes=False))


def _whole(data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise TooLarge(f"the value is larger than {MAX_BYTES} bytes: give it in pieces")
    return data


_Place = tuple["_Place", str | int] | None
"""Where a value stands, from the inside out: written out only in a complaint, for most values give no cause."""

_LONGEST_NAME = 64


class _Budget:
    """What is left of the bytes that a structure may have, and whether bytes may stand in it."""

    __slots__ = ("has_bytes", "left")

    def __init__(self, left: int, has_bytes: bool = True) -> None:
        self.left = left
        self.has_bytes = has_bytes

    def spend(self, size: int, place: _Place) -> None:
        self.left -= size
        if self.left < 0:
            raise TooLarge(f"{_named(place)} is larger than {MAX_STRUCTURE} bytes: page it, or publish it")


def _named(place: _Place) -> str:
    names: list[str] = []
    while place is not None:
        place, name = place
        text = str(name)
        names.append(text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…")
    return "".join(f"/{name}" for name in reversed(names)) or "the value"


def _copy(value: Any, place: _Place, depth: int, budget: _Budget) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        budget.spend(1, place)
        return value
    if kind is str:
        budget.spend(_size(value, place), place)
        return value
    if kind is int:
        budget.spend(_NUMBER, place)
        if not _SMALLEST <= value <= _LARGEST:
            raise NotPortable(f"{_named(place)} is an integer over 64 bits")
        return value
    if kind is float:
        budget.spend(_NUMBER, place)
        if not math.isfinite(value):
            raise NotPortable(f"{_named(place)} is {value}, which JSON does not have")
        return value
    if kind is bytes and budget.has_bytes:
        budget.spend(_HEAD + len(value), place)
        return value
    if depth >= MAX_DEPTH:
        raise NotPortable(f"{_named(place)} is nested deeper than {MAX_DEPTH}")
    if kind is list or kind is tuple:
        budget.spend(8, place)
        return [_copy(item, (place, index), depth + 1, budget) for index, item in enumerate(value)]
    if kind is dict:
        budget.spend(8, place)
        copied = {}
        for key, item in value.items():
            if type(key) is not str:
                raise NotPortable(f"{_named(place)} has a key that is no text: {type(key).__name__}")
            budget.spend(_size(key, (place, "<key>")), place)
            copied[key] = _copy(item, (place, key), depth + 1, budget)
        return copied
    raise NotPortable(f"{_named(place)} is a {kind.__name__}; only plain data may leave a plugin")


def _size(text: str, place: _Place) -> int:
    try:
        return _HEAD + (len(text) if text.isascii() else len(text.encode()))
    except UnicodeEncodeError:
        raise NotPortable(f"{_named(place)} holds half of a surrogate pair") from None


def answer(value: Any) -> Answer:
    """What a tool's handler returned, as an `Answer`.

    A dict is the structured result, a `Page` the structured `{"items", "nextCursor"}`, a `Result` says each part, a
    text is text alone, an `Ask` asks first. Raises `NotPortable` for anything else.
    """
    budget = _Budget(MAX_STRUCTURE, has_bytes=False)
    if isinstance(value, Result):
        structured = None if value.structured is None else _copy(dict(value.structured), None, 0, budget)
        text = value.text
        if text is not None and type(text) is not str:
            raise NotPortable("the text of the result is no text")
        links = tuple(_link(link, ((None, "links"), index), budget) for index, link in enumerate(value.links))
        parts = tuple(_part(part, ((None, "parts"), index), budget) for index, part in enumerate(value.parts))
        return Answer(structured=structured, text=_copy(text, None, 0, budget), links=links, parts=parts)
    if isinstance(value, Page):
        return Answer(structured=_copy({"items": list(value.items), "nextCursor": value.next_cursor}, None, 0, budget))
    if type(value) is dict:
        return Answer(structured=_copy(value, None, 0, budget))
    if type(value) is str:
        return Answer(text=_copy(value, None, 0, budget))
    if type(value) is Ask:
        return Answer(ask=_ask(value, budget))
    raise NotPortable(f"the result is a {type(value).__name__}; return a dict, a Page, a Result or a text")


def _link(link: Any, place: _Place, budget: _Budget) -> Link:
    """A copy of a link that is one: every part a text, or absent where it may be."""
    if not isinstance(link, Link):
        raise NotPortable(f"{_named(place)} is a {type(link).__name__}, not a Link")
    budget.spend(_LINK_BYTES, place)
    parts = {field.name: getattr(link, field.name) for field in attrs.fields(Link)}
    for name, part in parts.items():
        if type(part) is not str and not (part is None and name in ("mime_type", "description")):
            raise NotPortable(f"{_named((place, name))} is no text")
        _copy(part, (place, name), 0, budget)
    return Link(**parts)


def spoken(value: Any) -> Spoken:
    """What a prompt's handler returned: a text, a `Message`, a list of them, or an `Ask`.

    Raises `NotPortable` for anything else, and for no message at all.
    """
    budget = _Budget(MAX_STRUCTURE, has_bytes=False)
    if type(value) is Ask:
        return Spoken(ask=_ask(value, budget))
    given = value if isinstance(value, (list, tuple)) else [value]
    if not given:
        raise NotPortable("the prompt holds no message")
    return Spoken(messages=tuple(_message(one, (None, index), budget) for index, one in enumerate(given)))


def _message(value: Any, place: _Place, budget: _Budget) -> Message:
    if type(value) is str:
        return Message(_copy(value, place, 0, budget))
    if type(value) is not Message:
        raise NotPortable(f"{_named(place)} is a {type(value).__name__}; a prompt gives a text or Messages")
    if value.role not in ("user", "assistant"):
        raise NotPortable(f"{_named((place, 'role'))} is neither user nor assistant")
    content = value.content
    return Message(
        _copy(content, place, 0, budget) if type(content) is str else _part(content, place, budget), value.role
    )


def _part(part: Any, place: _Place, budget: _Budget) -> Part:
    """A copy of a part that is one: its data is bytes (of a document also text), the rest is text."""
    if type(part) not in (Image, Audio, Embedded):
        raise NotPortable(f"{_named(place)} is a {type(part).__name__}, not an Image, Audio or Embedded")
    budget.spend(_LINK_BYTES, place)
    kept = {}
    for field in attrs.fields(type(part)):
        value, where = getattr(part, field.name), (place, field.name)
        if field.name == "data" and type(value) is bytes:
            budget.spend(_HEAD + len(value), where)
        elif type(value) is str and (field.name != "data" or type(part) is Embedded):
            _copy(value, where, 0, budget)
        elif not (value is None and type(part) is Embedded and field.name == "mime_type"):
            raise NotPortable(f"{_named(where)} is a {type(value).__name__}")
        kept[field.name] = value
    made: Part = type(part)(**kept)
    return made


def _ask(ask: Ask, budget: _Budget) -> Ask:
    if type(ask.questions) is not dict or not ask.questions:
        raise NotPortable("an Ask has at least one question, each under a name")
    questions = {
        _name(name, budget): _question(question, (None, str(name)), budget)
        for name, question in ask.questions.items()
    }
    if type(ask.state) is not str:
        raise NotPortable("the state of an Ask is no text")
    return Ask(questions=questions, state=_copy(ask.state, (None, "state"), 0, budget))


def _name(name: Any, budget: _Budget) -> str:
    if type(name) is not str:
        raise NotPortable(f"the name of a question is a {type(name).__name__}")
    named: str = _copy(name, None, 0, budget)
    return named


def _question(question: Any, place: _Place, budget: _Budget) -> Question:
    if type(question) is Form and type(question.message) is str and type(question.schema) is dict:
        return Form(_copy(question.message, place, 0, budget), _copy(question.schema, place, 0, budget))
    if type(question) is Sample and type(question.text) is str and type(question.max_tokens) is int:
        return Sample(_copy(question.text, place, 0, budget), question.max_tokens)
    if type(question) is Roots:
        return question
    raise NotPortable(f"{_named(place)} is no Form, Sample or Roots with its parts of the right type")
