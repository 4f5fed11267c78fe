from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from yazcore.manifest.patterns import LONGEST_PATTERN, BadPattern, compiled

USUAL = [
    "", "abc", "^abc$", "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", r"^\d{4}-\d{2}-\d{2}$", r"^prj_[a-z2-7]{12}$", "^(http|https)://",
    r"^[^@\s]+@[^@\s]+\.[a-z]+$", "^(?:red|green|blue)$", r"^10\.\d{4,9}/[!-~]+$", "^.*foo$", "foo", r"\.(?:bib|tex)$",
    "^[A-Z]{2}[0-9]{6}$", r"^\\[a-z]+\{[^}]*\}$", "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "^a*?b$", r"[\]a]",
    "^$", "a|b|", r"^[\w.-]+$", r"^\x41\u00e4$", "^(a|b)*$", "^[^a-z]+$", r"^\S+@\S+$", "[a-]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", USUAL)
def test_usual_patterns_may_be_used(pattern: str) -> None:
    compiled(pattern)


EXPONENTIAL = [
    "(a+)+$",
    "^(a|a)*$",
    "^(a|ab)*c$",
    "(a*)*",
    "^([a-z]+)*x",
    r"^(\w|\d)+$",
    r"^(\s*a?)*$",
    "(.*,)*x",
    "^(é|\\w)*$",
]


@pytest.mark.parametrize("pattern", [*EXPONENTIAL, r"(a|b|ab)+"])
def test_two_ways_inside_a_repeat_are_refused(pattern: str) -> None:
    with pytest.raises(BadPattern, match=r"inside a repeat|may be empty"):
        compiled(pattern)


@pytest.mark.parametrize("pattern", [".*b.*c.*d", r"\s+\s+\s+x", "a*a*a*b", "^.*a.*b.*c.*d"])
def test_many_open_repeats_in_a_row_are_refused(pattern: str) -> None:
    with pytest.raises(BadPattern, match="too many repeats in a row"):
        compiled(pattern)


@pytest.mark.parametrize(
    ("pattern", "longest"),
    [
        ("^abc$", 16_384),
        ("^a+b+c+$", 16_384),
        ("abc", 16_384),
        ("a+$", 1024),
        ("^.*b.*c$", 1024),
        (".*b.*c$", 128),
        ("^.*b.*c.*d$", 128),
        ("^a|b+", 1024),
    ],
)
def test_the_more_open_repeats_the_shorter_the_text(pattern: str, longest: int) -> None:
    assert compiled(pattern).longest == longest


def test_a_text_that_is_too_long_does_not_match() -> None:
    assert compiled("a").matches("a" * 16_384)
    assert not compiled("a").matches("a" * 16_385)


def test_a_pattern_has_a_most_of_characters_with_its_counts_written_out() -> None:
    compiled("^a{200}$")
    with pytest.raises(BadPattern, match=r"^it is too long, with its counts written out$"):
        compiled("^a{200}b$")


@pytest.mark.parametrize("pattern", ["^" + "a?" * 30 + "a" * 30, "^" + "(ab|ac)" * 20])
def test_many_choices_that_begin_alike_are_refused(pattern: str) -> None:
    with pytest.raises(BadPattern, match="too many alternatives begin alike"):
        compiled(pattern)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)", "groups are ( ) or (?: ) only, without look-around, names or flags"),
        ("(?P<x>a)", "groups are ( ) or (?: ) only, without look-around, names or flags"),
        ("(?i)a", "groups are ( ) or (?: ) only, without look-around, names or flags"),
        (r"(a)\1", "\\1 is not understood everywhere"),
        (r"\bword\b", "\\b is not understood everywhere"),
        (r"\p{L}", "\\p is not understood everywhere"),
        (r"\Z", "\\Z is not understood everywhere"),
        ("(a", "a ( has no )"),
        ("a)", "a ) has no ("),
        ("[a", "it ends too early"),
        ("[]", "a class is empty"),
        ("[z-a]", "a range in a class is the wrong way round"),
        (r"[\d-z]", "a range in a class must go from one character to another"),
        ("[[a]", "[ in a class needs a \\, for engines read it differently"),
        ("[--b]", "- in a class needs a \\, for engines read it differently"),
        ("a\\", "it ends too early"),
        ("*a", "* stands where it repeats nothing; a literal one needs a \\"),
        ("a{", "a { begins no count; a literal one needs a \\"),
        ("a{,3}", "a { begins no count; a literal one needs a \\"),
        ("a{3,2}", "a count has its numbers in the wrong order"),
        ("a**", "a repeat is repeated"),
        ("a++", "a repeat is repeated"),
        (r"\x4", "\\x needs 2 hexadecimal digits"),
        ("a" * (LONGEST_PATTERN + 1), f"it is longer than {LONGEST_PATTERN} characters"),
        ("[a-z]{150}[0-9]{100}", "it is too long, with its counts written out"),
        ("(" * 30 + ")" * 30, "its groups nest too deeply"),
    ],
)
def test_what_does_not_mean_the_same_everywhere_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(BadPattern, match=f"^{re.escape(reason)}$"):
        compiled(pattern)


def test_the_end_is_the_very_end() -> None:
    assert compiled("^a$").matches("a")
    assert not compiled("^a$").matches("a\n")
    assert compiled(r"^a\$[$]").matches("a$$")


def test_classes_are_of_ascii() -> None:
    assert not compiled(r"^\d$").matches("٣")
    assert not compiled(r"^\w$").matches("ä")


@given(pattern=st.text(alphabet="ab01.*+?|()[]{}^$-\\,dw", max_size=12), text=st.text(alphabet="ab01-\n", max_size=8))
def test_what_may_be_used_matches_as_the_standard_library_has_it(pattern: str, text: str) -> None:
    try:
        found = compiled(pattern)
    except BadPattern:
        assume(False)
    reference = re.compile(
        re.sub(r"(?<!\\)((?:\\\\)*)\$", r"\1\\Z", pattern) if "[" not in pattern else pattern, re.ASCII
    )
    if "[" not in pattern or "$" not in pattern:
        assert found.matches(text) == bool(reference.search(text))


PARTS = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "."]),
    lambda part: (
        st.tuples(part, st.sampled_from(["*", "+", "?", "{2}", "{1,3}"])).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
        | st.lists(part, min_size=2, max_size=3).map("".join)
        | st.lists(part, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})")
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(pattern=PARTS)
def test_what_may_be_used_does_not_run_away(pattern: str) -> None:
    try:
        found = compiled(pattern)
    except BadPattern:
        assume(False)
    for text in ("a" * 1024, "ab" * 512, "a" * 127 + "c"):
        found.matches(text)
