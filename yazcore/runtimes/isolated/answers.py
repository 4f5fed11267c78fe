"""What a handler said, on its way out of a worker: packed there as plain data, looked at here as if a handler said it.

The packed form names a class only to choose one from a list of this module's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from yazcore.contributions import Link, Result
from yazcore.parts import Ask, Audio, Embedded, Form, Image, Message, Roots, Sample
from yazcore.runtimes.values import Answer, NotPortable, Spoken, answer, portable, readable, spoken

_CLASSES = {kind.__name__: kind for kind in (Link, Image, Audio, Embedded, Message, Form, Sample, Roots)}

HOW: Mapping[tuple[str, str], str] = {
    ("tools", "handler"): "answer", ("resources", "handler"): "readable", ("prompts", "handler"): "spoken",
}  # fmt: skip
"""How what a handler says is taken, by contribution key and field; everything else is `plain`."""


def packed_answer(value: Any) -> list[Any]:
    """What a tool's handler returned, as plain data. In a worker. Raises `NotPortable`."""
    said = answer(value)
    return [said.structured, said.text, [*map(_packed, said.links)], [*map(_packed, said.parts)], _asked(said.ask)]


def packed_spoken(value: Any) -> list[Any]:
    """What a prompt's handler returned, as plain data. In a worker. Raises `NotPortable`."""
    said = spoken(value)
    return [[*map(_packed, said.messages)], _asked(said.ask)]


PACK: Mapping[str, Callable[[Any], Any]] = {
    "answer": packed_answer, "spoken": packed_spoken, "readable": readable, "plain": portable,
}  # fmt: skip
"""In a worker: how a handler's result is made plain."""


def unpacked_answer(value: Any) -> Answer:
    """The `Answer` that a worker packed. Raises `NotPortable` for whatever is none."""
    structured, text, links, parts, ask = _of_length(value, 5)
    if ask is not None:
        return answer(_ask(ask))
    if structured is not None and type(structured) is not dict:
        raise NotPortable("the structured result is no object")
    if structured is not None and text is None and not links and not parts:
        return answer(structured)
    return answer(Result(structured, text, _all(links), _all(parts)))


def unpacked_spoken(value: Any) -> Spoken:
    """The `Spoken` that a worker packed. Raises `NotPortable` for whatever is none."""
    messages, ask = _of_length(value, 2)
    return spoken(_all(messages) if ask is None else _ask(ask))


UNPACK: Mapping[str, Callable[[Any], Any]] = {
    "answer": unpacked_answer, "spoken": unpacked_spoken, "readable": readable, "plain": portable,
}  # fmt: skip
"""In the host: how what a worker packed is looked at."""


def _packed(value: Any) -> list[Any]:
    fields = (getattr(value, field.name) for field in attrs.fields(type(value)))
    return [type(value).__name__, *(_packed(one) if attrs.has(type(one)) else one for one in fields)]


def _asked(ask: Ask | None) -> list[Any] | None:
    return None if ask is None else [{name: _packed(one) for name, one in ask.questions.items()}, ask.state]


def _ask(value: Any) -> Ask:
    questions, state = _of_length(value, 2)
    if type(questions) is not dict:
        raise NotPortable("the questions are no object")
    return Ask({name: _made(one) for name, one in questions.items()}, state)


def _all(value: Any) -> list[Any]:
    if type(value) is not list:
        raise NotPortable("what should be a list is none")
    return [_made(one) for one in value]


def _made(value: Any) -> Any:
    """One object of the list of classes; each part of it is looked at by whoever takes it."""
    if type(value) is not list or not value or type(value[0]) is not str or value[0] not in _CLASSES:
        raise NotPortable("a part of the result is of no known kind")
    kind = _CLASSES[value[0]]
    parts = _of_length(value[1:], len(attrs.fields(kind)))
    return kind(*(_made(one) if type(one) is list else one for one in parts))


def _of_length(value: Any, length: int) -> list[Any]:
    if type(value) is not list or len(value) != length:
        raise NotPortable("the result does not have the parts of one")
    return value
