"""Garbage for reading, for as long as you like: `python -m tests.manifest.fuzz_reading SECONDS [FIRST CASE]`.

A case is a number: a good manifest, spoiled in its bytes, its tokens or its values, and blown up. One that breaks a
promise is printed with its number, with which it can be had again.
"""

from __future__ import annotations

import copy
import json
import random
import re
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tests.manifest.documents import ADDED, ODD, places_in
from tests.manifest.mistakes import MISTAKES, TEXT
from tests.manifest.samples import CONTRACT, GOOD, text
from yazcore.manifest.checking import check_reading
from yazcore.manifest.json_text import MOST_BYTES
from yazcore.manifest.places import MOST_FAULTS
from yazcore.manifest.reading import Reading, read
from yazcore.manifest.schema import schema
from yazcore.manifest.words import is_printable
from yazcore.violations import sentence

ROOT = Path(__file__).parents[2]
SHIPPED = ("yazcore/writing/manifest.json", "yazcore/writing/plugins/typst/manifest.json")

NASTY = (
    "9" * 5000, "1." * 3000, "0" * 65, "a." * 500, "x" * 70_000, "ä." * 300, "\u0130.org", "a\u200db.org", "xn--a",
    "[::1", "[::1]", "::ffff:1.2.3.4", "1::1%eth0", "256.1.1.1", "0x7f", "٣.٣", "~", "~root/x", "//", "{" * 500, "}{",
    "{a}" * 200, "%zz", "https://[", "https://a:b:c", "https://a.org:99999", "\ufeff", "\u2028", "\x85", "\ufe0f\ufe0f",
    "a\n", "\n", "$", "\\", "\\u0000", "constructor", "__proto__", "(a+)+$", "#/$defs/x",
)  # fmt: skip
VALUES = (
    2**53, 2**63 - 1, 2**64 - 1, -(2**63), 1e308, 5e-324, 0.1, -0.0, float("nan"), float("inf"), 2**64,
    10**400, [[[]]], {"": {}},
)  # fmt: skip
SCRAPS = (
    b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"null", b"true", b"1.0", b"1e999", b"NaN", b"-", b"{}", b"[]",
    b'""', b"\\ud800", b"\\udc00", b"\\u0000", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\x00", b"\xed\xa0\x80", b'"a": 1, ',
    b"*", b"\n", b"//", b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b"0" * 30, b"[" * 40, b"{" * 1100,
)  # fmt: skip
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@cache
def goods() -> tuple[bytes, ...]:
    mistakes = [mistake.text().encode() for mistake in MISTAKES]
    return (text(GOOD), TEXT.encode(), *((ROOT / name).read_bytes() for name in SHIPPED), *mistakes)


@cache
def validator() -> Any:
    return Draft202012Validator(schema(CONTRACT))


def case(number: int) -> bytes:
    """The bytes of a case."""
    chance = random.Random(number)
    data = chance.choice(goods())
    for _ in range(chance.randint(1, 4)):
        data = chance.choice(WAYS)(chance, data)
    return data[: 2 * MOST_BYTES]


def spoil_bytes(chance: random.Random, data: bytes) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(SCRAPS) + data[at + chance.choice((0, 0, 1, 5, 40)) :]


def spoil_tokens(chance: random.Random, data: bytes) -> bytes:
    tokens = [found.span() for found in TOKEN.finditer(data)]
    if len(tokens) < 2:
        return data
    (start, end), (other, ending) = sorted(chance.sample(tokens, 2))
    return data[:start] + data[other:ending] + data[end:other] + chance.choice((b"", data[start:end])) + data[ending:]


def spoil_values(chance: random.Random, data: bytes) -> bytes:
    try:
        document = json.loads(data)
        places = places_in(document)
    except (ValueError, RecursionError):
        return spoil_bytes(chance, data)
    for path in chance.sample(places, min(len(places), chance.randint(1, 3))):
        try:
            inner = document
            for part in path[:-1]:
                inner = inner[part]
            inner[path[-1]] = spoiled(chance, inner[path[-1]])
        except (LookupError, TypeError):  # an earlier change took the place away
            continue
    return json.dumps(document, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def spoiled(chance: random.Random, value: Any) -> Any:
    way = chance.random()
    if way < 0.3:
        return chance.choice(NASTY)
    if way < 0.5:
        return copy.deepcopy(chance.choice((*ODD, *VALUES)))
    if isinstance(value, str):
        return value + chance.choice((*ADDED, *NASTY))
    if isinstance(value, list) and value:
        return value * chance.choice((2, 600, 3000)) if len(str(value)) < 60 else value + value[:1]
    if isinstance(value, dict):
        return {**value, **{f"{chance.choice(NASTY)[:20]}{n}": n for n in range(chance.choice((1, 3, 2000)))}}
    return [value]


WAYS: tuple[Callable[[random.Random, bytes], bytes], ...] = (spoil_bytes, spoil_tokens, spoil_values, spoil_values)


def check_promises(data: bytes) -> Reading:
    """What holds for every reading, whatever was read."""
    found = read(data, CONTRACT)
    assert (found.manifest is None) == any(one.severity == "error" for one in found.violations)
    assert len(found.violations) <= MOST_FAULTS + 1
    places = [(one.line, one.column) for one in found.violations if one.line is not None and one.column is not None]
    assert places == sorted(places)
    lines = [] if found.text is None else found.text.split("\n")
    assert all(1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1 for line, column in places)
    for one in found.violations:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one.code), one
        assert one.message, one
        assert one.fix, one
        assert len(one.message) + len(one.fix) < 2500, one
        assert is_printable(sentence(one)), one
        assert leads_somewhere(found.document, one.pointer), one
        json.dumps(one.as_json()).encode()
    json.dumps(found.document, allow_nan=False).encode()
    assert read(data, CONTRACT) == found
    if not found.violations:
        assert validator().is_valid(found.document)
    check_reading(found, Path("nowhere"))
    return found


def leads_somewhere(document: Any, pointer: str) -> bool:
    """Whether a pointer leads to a value, or to a key that its object could have. Escaped keys lead anywhere."""
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]] or [""]
    for part in path:
        if "\\" in part:
            return True
        if not holds(document, part):
            return False
        document = document[int(part) if isinstance(document, list) else part]
    return not pointer or isinstance(document, dict) or holds(document, last)


def holds(document: Any, part: str) -> bool:
    if isinstance(document, list):
        return part.isdecimal() and int(part) < len(document)
    return isinstance(document, dict) and part in document


def main(seconds: float, first: int, check: Callable[[bytes], Reading] = check_promises) -> int:
    """Run cases until the time is over; the number of cases that broke a promise."""
    until = time.monotonic() + seconds
    number, broken, accepted = first, 0, 0
    slowest = (0.0, first)
    while time.monotonic() < until:
        data = case(number)
        began = time.perf_counter()
        try:
            accepted += check(data).manifest is not None
        except Exception:
            broken += 1
            traceback.print_exc()
            print(f"case {number}: {data[:200]!r}")  # noqa: T201
        slowest = max(slowest, (time.perf_counter() - began, number))
        number += 1
    print(f"cases {first} to {number - 1}: {broken} broken, {accepted} accepted")  # noqa: T201
    print(f"the slowest, {slowest[1]}, took {slowest[0]:.2f} s")  # noqa: T201
    return broken


if __name__ == "__main__":
    sys.exit(bool(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
