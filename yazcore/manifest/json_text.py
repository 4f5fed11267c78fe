"""Bytes to plain data, more strictly than `json`: every fault at once, each with its place, never a traceback.

JSON as this contract has it (design 4, P-7): UTF-8 without a byte order mark, at most 256 KiB, at most 32 levels deep,
no key twice in one object, no NaN or Infinity, no integer over 64 bits, no half of a surrogate pair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import attrs

from yazcore.manifest.places import MOST_FAULTS, Fault, Path, depth_offset, without_surrogates
from yazcore.manifest.words import quoted

MOST_BYTES = 256 * 1024
"""The largest manifest, in bytes."""

DEEPEST = 32
"""The deepest nesting of objects and arrays."""

_INTEGERS = range(-(2**63), 2**64)
_LONGEST_INTEGER = 20
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@attrs.frozen
class Parsed:
    """What the bytes hold.

    Where they hold no JSON, `is_json` is False and `value` is None; `text` is what positions count in, None for bytes
    that were not even decoded. Where a value may not stand in a manifest, `value` has a harmless stand-in.
    """

    value: Any
    text: str | None
    faults: tuple[Fault, ...] = ()
    is_json: bool = True


class _Number:
    """Stands where the text holds a number that a manifest may not hold; it is of no type that a manifest knows."""

    def __init__(self, text: str) -> None:
        self.text = text


class _Repeated(dict[str, Any]):
    """An object in which a key stands twice; the last one counts, as everywhere."""

    repeated: tuple[str, ...] = ()


def parse(data: bytes) -> Parsed:
    """Read the bytes as JSON. Pure; never raises."""
    if len(data) > MOST_BYTES:
        message = f"the manifest is larger than {MOST_BYTES} bytes"
        return _unreadable("json-too-large", message, "move long texts into the message files")
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return _unreadable(
            "json-bom", "the file starts with a byte order mark", "save it as UTF-8 without a byte order mark", text=""
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        return _unreadable(
            "json-not-utf8", f"byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8", good, len(good)
        )
    decoder = _Decoder()
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        message = f"this is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        return _unreadable("json-syntax", message, "mend the syntax here", text, error.pos)
    except RecursionError:
        return _unreadable(*_too_deep(), text, depth_offset(text, DEEPEST))
    # naming places means walking everything, which costs more than the reading: only when there may be one to name
    if decoder.odd or _SURROGATE.search(text) or _is_too_deep(value):
        faults = tuple(islice(_faults(value, ()), MOST_FAULTS + 1))
        return Parsed(_harmless(value) if len(faults) else value, text, faults)
    return Parsed(value, text)


def _unreadable(code: str, message: str, fix: str, text: str | None = None, offset: int = 0) -> Parsed:
    place = None if text is None else offset
    return Parsed(None, text, (Fault(code, message, fix, offset=place),), is_json=False)


def _too_deep() -> tuple[str, str, str]:
    return "json-too-deep", f"this nests deeper than {DEEPEST} levels", "nest less deeply"


class _Decoder:
    """One document's decoder: `odd` says whether it met anything that has to be named."""

    def __init__(self) -> None:
        self.odd = False
        self.decode = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._float,
            parse_constant=self._number,
        ).decode

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        self.odd = True
        seen: set[str] = set()
        repeated = _Repeated(found)
        repeated.repeated = tuple(dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
        return repeated

    def _integer(self, text: str) -> Any:
        if len(text) <= _LONGEST_INTEGER and (value := int(text)) in _INTEGERS:
            return value
        return self._number(text)

    def _float(self, text: str) -> Any:
        value = float(text)
        return value if abs(value) != float("inf") else self._number(text)

    def _number(self, text: str) -> Any:
        self.odd = True
        return _Number(text)


_CONTAINERS = frozenset({dict, list, _Repeated})


def _is_too_deep(value: Any) -> bool:
    level: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(DEEPEST):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer if type(outer) is list else outer.values())
            if type(inner) in _CONTAINERS
        ]
    return bool(level)


def _faults(value: Any, path: Path) -> Iterator[Fault]:
    if isinstance(value, (dict, list)) and len(path) >= DEEPEST:
        yield Fault(*_too_deep(), path)
    elif isinstance(value, dict):
        for key in value.repeated if isinstance(value, _Repeated) else ():
            yield Fault(
                "json-duplicate-key", f"the key {quoted(key)} stands twice in one object", "leave one of them out",
                (*path, without_surrogates(key)), at_key=True,
            )  # fmt: skip
        for key, inner in value.items():
            place = (*path, without_surrogates(key))
            if place[-1] != key:
                yield _lone_surrogate("this key", place, at_key=True)
            yield from _faults(inner, place)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _faults(inner, (*path, index))
    elif isinstance(value, _Number):
        yield Fault(
            "json-number", f"{value.text[:_LONGEST_INTEGER]} is no number that a manifest may hold",
            "use a finite number, or an integer of at most 64 bits", path,
        )  # fmt: skip
    elif isinstance(value, str) and without_surrogates(value) != value:
        yield _lone_surrogate("this text", path)


def _lone_surrogate(what: str, path: Path, at_key: bool = False) -> Fault:
    return Fault(
        "json-lone-surrogate", f"{what} holds half of a surrogate pair", "write the character itself, or both halves",
        path, at_key=at_key,
    )  # fmt: skip


def _harmless(value: Any, depth: int = 0) -> Any:
    """The value without what no later step should meet; depth ends where the contract's does."""
    if isinstance(value, _Number) or (isinstance(value, (dict, list)) and depth >= DEEPEST):
        return None
    if isinstance(value, dict):
        return {without_surrogates(key): _harmless(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_harmless(inner, depth + 1) for inner in value]
    return without_surrogates(value) if isinstance(value, str) else value
