"""URI templates of RFC 6570, as far as a resource may use them: `{name}` and `{+name}`, matched and expanded.

`{name}` stands for one segment: what stands there is percent-encoded, so it holds no `/`. `{+name}` may hold slashes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from urllib.parse import quote, unquote_to_bytes

_EXPRESSION = re.compile(r"\{(\+?)([A-Za-z_][A-Za-z0-9_]*)\}")
_SEGMENT = r"[A-Za-z0-9._~:%-]+"
_PATH = r"[A-Za-z0-9._~:%!$&'()*+,;=@/-]+"

LONGEST_URI = {1: 16_384, 2: 4_096, 3: 512}
"""The longest URI that is matched, in characters, by the power of its length that matching may take: anybody who may
ask can send a URI of a megabyte, and `{year}-{month}` would run over it for hours."""

_SHORTEST = 128


class BadTemplate(ValueError):
    """A template that is not of the allowed form; the text says why."""


def variables(template: str) -> tuple[str, ...]:
    """The template's variables, in order. Raises `BadTemplate` for other forms and for a variable used twice."""
    rest = _EXPRESSION.sub("", template)
    if "{" in rest or "}" in rest:
        raise BadTemplate("only {name} and {+name} may stand in a template")
    names = tuple(match[2] for match in _EXPRESSION.finditer(template))
    if len(set(names)) != len(names):
        raise BadTemplate("a variable stands twice")
    if _EXPRESSION.search(template) and re.search(r"\}\{", template):
        raise BadTemplate("two variables touch: nothing says where one ends")
    return names


@lru_cache(maxsize=1024)
def _pattern(template: str) -> re.Pattern[str]:
    parts, at = [], 0
    for match in _EXPRESSION.finditer(template):
        parts.append(re.escape(template[at : match.start()]))
        parts.append(f"(?P<{match[2]}>{_PATH if match[1] else _SEGMENT})")
        at = match.end()
    parts.append(re.escape(template[at:]))
    return re.compile("".join(parts))


@lru_cache(maxsize=1024)
def longest(template: str) -> int:
    """The longest URI that is held against the template, in characters."""
    found = list(_EXPRESSION.finditer(template))
    between = [template[one.end() : other.start()] for one, other in pairwise(found)]
    # A variable that may hold what follows it, too, can end in many places.
    open_ends = sum(
        re.fullmatch(_PATH if one[1] else _SEGMENT, text) is not None for one, text in zip(found, between, strict=False)
    )
    return LONGEST_URI.get(1 + open_ends, _SHORTEST)


def match(template: str, uri: str) -> dict[str, str] | None:
    """The variables' values where `uri` expands the template, else None; bad percent-encoding is no match.

    What is longer than `longest` is none either.
    """
    if len(uri) > longest(template):
        return None
    found = _pattern(template).fullmatch(uri)
    if found is None:
        return None
    values = {}
    for name, raw in found.groupdict().items():
        if re.search(r"%(?![0-9A-Fa-f]{2})", raw):
            return None
        try:
            values[name] = unquote_to_bytes(raw).decode("utf-8")
        except UnicodeDecodeError:
            return None
    return values


def expand(template: str, values: Mapping[str, str]) -> str:
    """The URI of the template with these values. Raises `KeyError` for a variable without a value."""
    return _EXPRESSION.sub(lambda found: quote(values[found[2]], safe="/-._~:" if found[1] else "-._~:"), template)
