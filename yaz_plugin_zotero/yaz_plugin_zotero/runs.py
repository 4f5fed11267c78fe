r"""Citations that stand together at one place of a text, whoever wrote them; no file is touched here.

A *run* is citations with nothing between them but what prints as one space or as nothing: blanks, a protected space,
one line end, in LaTeX a comment, in Typst the semicolon that ends a call. Any other text ends it, a comma too: what
comes behind may belong to another thought, and a paragraph's end always does.

What counts as a citation is what prints one: in Typst `@key`, `@key[p. 7]`, `#cite(...)`; in LaTeX the commands of
natbib and biblatex that cite in full (not `\citeauthor` and its like, which print a part, nor `\nocite`); in Markdown
`[@a; @b, p. 7]`, `@a` and `@a [p. 7]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

import attrs

Format = Literal["typst", "latex", "markdown"]

_Works = list[tuple[str, str]]

_BEFORE = 5_000
"""How far back a run is looked for, in characters, within its paragraph."""

_PARAGRAPH_END = re.compile(r"\n[ \t]*\r?\n")
_PROTECTED = re.compile("[~\u00a0]")


@attrs.frozen
class Standing:
    """A work that is cited: its key, its locator as the format writes it ("" for none), where its citation begins."""

    key: str
    locator: str
    start: int


@attrs.frozen
class _Grammar:
    """How a format writes citations: one, what lies between two of a run, and what hides no citation.

    `works` are those that a match of `one` cites; none where it is no citation after all. `joint` is what may stand
    behind a citation, up to the next; `gap` the same where no citation stands before.
    """

    one: re.Pattern[str]
    skipped: re.Pattern[str]
    gap: re.Pattern[str]
    joint: re.Pattern[str]
    works: Callable[[re.Match[str]], _Works]


def around(text: str, at: int, form: Format) -> list[Standing]:
    """The works that the run at `at` cites: the citations that end there and those that follow, in order."""
    grammar = _GRAMMARS[form]
    found, touches = _ending(text, at, grammar)
    gap = grammar.joint if touches else grammar.gap
    while True:
        space = gap.match(text, at)
        one = grammar.one.match(text, space.end() if space is not None else at)
        works = grammar.works(one) if one is not None else []
        if one is None or not works:
            return found
        found += [Standing(key, plain(locator), one.start()) for key, locator in works]
        at, gap = one.end(), grammar.joint


def plain(locator: str) -> str:
    """A locator as written, comparable: a protected space is a space, and how many there are does not matter."""
    return " ".join(_PROTECTED.sub(" ", locator).split())


def _ending(text: str, at: int, grammar: _Grammar) -> tuple[list[Standing], bool]:
    """The works of the citations that end at `at`, in order, and whether the last ends there without a gap."""
    lowest = max(0, at - _BEFORE)
    start = max((end.end() for end in _PARAGRAPH_END.finditer(text, lowest, at)), default=lowest)
    found: list[Standing] = []
    touches = False
    upto = at
    for one, works in reversed(list(_citations(text, start, at, grammar))):
        if one.end() != upto and not grammar.joint.fullmatch(text, one.end(), upto):
            break
        touches = touches or one.end() == at
        found[:0] = [Standing(key, plain(locator), one.start()) for key, locator in works]
        upto = one.start()
    return found, touches


def _citations(text: str, start: int, end: int, grammar: _Grammar) -> Iterator[tuple[re.Match[str], _Works]]:
    """The citations that lie between `start` and `end`. Read from the front: only so are escapes and comments seen."""
    while start < end:
        one = grammar.one.match(text, start)
        works = grammar.works(one) if one is not None else []
        if one is not None and works:
            if one.end() <= end:
                yield one, works
            start = one.end()
        else:
            skipped = grammar.skipped.match(text, start)
            start = skipped.end() if skipped is not None else start + 1


def _space(blank: str) -> str:
    """Any number of blanks with at most one line end among them."""
    return rf"(?:{blank})*+(?:\r?\n(?:{blank})*+)?+"


_STRING = r'"(?:[^"\\]|\\.)*+"'

# --- Typst -----------------------------------------------------------------------------------------------------------

_CONTENT = r"\[(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*+\])*+\]"
_CODE = rf"(?:[^()\[\]\"]|{_STRING}|{_CONTENT}|\((?:[^()\[\]\"]|{_STRING}|{_CONTENT})*+\))*+"
_TYPST = re.compile(
    rf"@(?P<reference>[\w-](?:[\w:.-]*[\w-])?)(?P<supplement>{_CONTENT})?"
    rf"|\#cite\(\s*(?:<(?P<label>[^<>\s]+)>|label\(\s*(?P<quoted>{_STRING})\s*\))(?P<more>{_CODE})\)",
    re.DOTALL,
)
_SUPPLEMENT = re.compile(rf"\bsupplement:\s*(?P<supplement>{_CONTENT}|{_STRING})", re.DOTALL)


def _of_typst(one: re.Match[str]) -> _Works:
    if one["reference"]:
        return [(one["reference"], (one["supplement"] or "")[1:-1])]
    key = one["label"] or re.sub(r"\\(.)", r"\1", one["quoted"][1:-1])
    told = _SUPPLEMENT.search(one["more"])
    return [(key, told["supplement"][1:-1] if told is not None else "")]


# --- LaTeX -----------------------------------------------------------------------------------------------------------

_BRACED = r"\{(?:[^{}\\]|\\.|\{(?:[^{}\\]|\\.)*+\})*+\}"
# Bounded, because an option that is never closed would be read to the text's end, and again at the next command.
_OPTION = rf"\[(?:[^\]{{}}\\]|\\.|{_BRACED}){{0,500}}+\]"
_GROUP = rf"(?:\s?{_OPTION})?(?:\s?{_OPTION})?\s?\{{[^{{}}\\%]*\}}"
_COMMAND = r"\\(?:[Pp]aren|[Tt]ext|[Aa]uto|[Ss]mart|[Ss]uper|[Ff]oot|[Ff]ull|footfull)?[Cc]ite(?:[pt]|al[pt]|text)?"
_LATEX = re.compile(
    rf"{_COMMAND}\*?{_GROUP}|{_COMMAND}s\*?(?:\([^()]*\)){{0,2}}(?:{_GROUP})+",
    re.DOTALL,
)
_GROUPS = re.compile(rf"(?P<options>(?:\s?{_OPTION})*)\s?\{{(?P<keys>[^{{}}]*)\}}", re.DOTALL)


def _of_latex(one: re.Match[str]) -> _Works:
    works: _Works = []
    for group in _GROUPS.finditer(one[0]):
        keys = [key.strip() for key in group["keys"].split(",")]
        options = re.findall(_OPTION, group["options"], re.DOTALL)
        # The last option is printed behind the last work, the one before it in front of the first.
        works += [(key, "") for key in keys[:-1]]
        works.append((keys[-1], options[-1][1:-1] if options else ""))
    return works


# --- Markdown --------------------------------------------------------------------------------------------------------

_NAME = r"@(?:\{(?P<braced>[^{}\n]+)\}|(?P<bare>\w(?:[\w:.#$%&+?<>~/-]*\w)?))"
_MARKDOWN = re.compile(
    rf"\[(?P<group>(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*+\])*+)\](?!\()"
    rf"|(?<![\w@\\])-?{_NAME}(?:[ ]?\[(?P<suffix>(?:[^\[\]\\@]|\\.)*+)\](?!\())?",
    re.DOTALL,
)
_ITEM = re.compile(rf"(?:[^@\\]|\\.)*?(?<![\w@\\]){_NAME}(?P<suffix>.*)", re.DOTALL)
_ITEMS = re.compile(r"(?:[^;\\]|\\.)+", re.DOTALL)


def _of_markdown(one: re.Match[str]) -> _Works:
    if one["group"] is None:
        return [(one["braced"] or one["bare"], one["suffix"] or "")]
    items = [_ITEM.fullmatch(item) for item in _ITEMS.findall(one["group"])]
    # Brackets in which a part cites nothing are no citation but text in brackets.
    return [
        (item["braced"] or item["bare"], item["suffix"].lstrip().removeprefix(","))
        for item in items if item is not None
    ] if None not in items else []  # fmt: skip


_BLANK = "[ \t~\u00a0]"
_TYPST_GAP = _space(_BLANK)
_LATEX_GAP = re.compile(_space(rf"{_BLANK}|\\[ ,]|%[^\n]*\n"))
_MARKDOWN_GAP = re.compile(_space("[ \t\u00a0]|\\\\ |&nbsp;"))
_GRAMMARS: dict[Format, _Grammar] = {
    "typst": _Grammar(
        one=_TYPST,
        skipped=re.compile(r"\\.|`[^`]*`", re.DOTALL),
        gap=re.compile(_TYPST_GAP),
        joint=re.compile(rf"(?:(?<=\));)?{_TYPST_GAP}"),
        works=_of_typst,
    ),
    "latex": _Grammar(
        one=_LATEX,
        skipped=re.compile(r"\\[A-Za-z]+|\\.|%[^\n]*", re.DOTALL),
        gap=_LATEX_GAP,
        joint=_LATEX_GAP,
        works=_of_latex,
    ),
    "markdown": _Grammar(
        one=_MARKDOWN,
        skipped=re.compile(r"\\.|`[^`\n]*`", re.DOTALL),
        gap=_MARKDOWN_GAP,
        joint=_MARKDOWN_GAP,
        works=_of_markdown,
    ),
}
