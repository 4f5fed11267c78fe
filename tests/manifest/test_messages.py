from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fluent.runtime import FluentBundle, FluentResource
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.manifest.samples import GOOD, manifest_of
from yazcore.manifest.messages import (
    LONGEST_ARGUMENT,
    LONGEST_MESSAGE,
    MOST_BYTES,
    MOST_LOCALES,
    Messages,
    chain,
    check_messages,
    files_in,
    is_locale,
    locales_in,
    seal,
    texts,
)
from yazcore.manifest.model import Manifest
from yazcore.violations import Violation

MANIFEST = manifest_of(GOOD)
KEYS = tuple(dict.fromkeys(key for key, _ in MANIFEST.message_keys()))


def write(folder: Path, **locales: str) -> Path:
    """Message files in `folder`; `de_AT` writes `de-AT.ftl`."""
    folder.mkdir(exist_ok=True)
    for locale, text in locales.items():
        (folder / f"{locale.replace('_', '-')}.ftl").write_text(text, encoding="utf-8")
    return folder


def said(folder: Path, text: str, key: str = "a", locale: str = "en-US", **arguments: Any) -> str:
    return Messages(write(folder, en_US=text), locale).text(key, **arguments)


def test_what_is_text_alone_needs_nothing_that_fills_in(tmp_path: Path) -> None:
    text = "a = one\n    two\nb = { a }\n"
    code = f"""
import sys
from pathlib import Path
from yazcore.manifest.messages import Messages
messages = Messages(Path({str(write(tmp_path, en_US=text))!r}))
print(repr(messages.text("a")), "fluent.runtime" in sys.modules)
print(repr(messages.text("b")), "fluent.runtime" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout == "'one\\ntwo' False\n'one\\ntwo' True\n"


_PIECES = st.sampled_from(
    ["word", " ", "\n    ", "{ b }", '{ "x" }', "{ $y }", "\n    .of = z", "\n  # c", "ä", "{", "\n"]
)


@given(st.lists(_PIECES, max_size=6).map("".join))
def test_a_text_is_what_fluent_makes_of_it(tmp_path_factory: pytest.TempPathFactory, pieces: str) -> None:
    text = f"b = other\na = {pieces}\na = second\n"
    bundle = FluentBundle(["en-US"], use_isolating=False)
    bundle.add_resource(FluentResource(text))
    pattern = bundle.get_message("a").value if bundle.has_message("a") else None
    expected = "<a>" if pattern is None else str(bundle.format_pattern(pattern, {"y": "Y"})[0])
    assert said(tmp_path_factory.getbasetemp() / "fluent", text, y="Y") == expected


# -- which language --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("locale", "tried"),
    [
        ("de-AT", ("de-AT", "de", "en-US")),
        ("de_AT.UTF-8@euro", ("de-AT", "de", "en-US")),
        ("zh-Hant-TW", ("zh-Hant-TW", "zh-Hant", "zh", "en-US")),
        ("en-US", ("en-US", "en")),
        ("en", ("en", "en-US")),
        ("C", ("en-US",)),
        ("", ("en-US",)),
        ("../../etc", ("en-US",)),
    ],
)
def test_the_chain_goes_from_the_region_to_the_language_to_english(locale: str, tried: tuple[str, ...]) -> None:
    assert chain(locale) == tried


@pytest.mark.parametrize("text", ["de", "de-AT", "zh-Hant", "es-419"])
def test_locales(text: str) -> None:
    assert is_locale(text)


@pytest.mark.parametrize("text", ["", "DE", "de_AT", "de-at", "de-AT\n", "deutsch", "../de", "de-AT-x"])
def test_what_is_no_locale(text: str) -> None:
    assert not is_locale(text)


def test_a_text_comes_from_the_first_language_that_has_it(tmp_path: Path) -> None:
    folder = write(tmp_path, de_AT="a = Servus", de="a = Tag\nb = Zwei", en_US="a = Hi\nb = Two\nc = Three")
    messages = Messages(folder, "de-AT")
    assert [messages.text(key) for key in "abcd"] == ["Servus", "Zwei", "Three", "<d>"]
    assert [Messages(folder, "fr").text(key) for key in "ab"] == ["Hi", "Two"]


def test_without_a_folder_or_a_file_each_key_stands_for_itself(tmp_path: Path) -> None:
    assert Messages(None).text("a") == "<a>"
    assert Messages(tmp_path / "missing", "de").text("a") == "<a>"


def test_keys_are_those_with_a_text_in_exactly_one_locale(tmp_path: Path) -> None:
    messages = Messages(write(tmp_path, de="a = A", en_US="a = A\nb = B\nc =\n .title = C\n-d = D\n"))
    assert (messages.keys("de"), messages.keys("en-US")) == ({"a"}, {"a", "b"})
    assert messages.keys("fr") == messages.keys("../de") == frozenset()


def test_files_are_read_when_a_text_is_first_asked_for(tmp_path: Path) -> None:
    messages = Messages(tmp_path)
    write(tmp_path, en_US="a = late")
    assert messages.text("a") == "late"


# -- what a text becomes ---------------------------------------------------------------------------------------------


def test_arguments_stand_without_isolation_marks(tmp_path: Path) -> None:
    assert said(tmp_path, "a = { $count } items of { $name }", count=3, name="Anna") == "3 items of Anna"


@pytest.mark.parametrize(("count", "text"), [(1, "ein Treffer"), (2, "2 Treffer")])
def test_a_language_has_its_own_plurals(tmp_path: Path, count: int, text: str) -> None:
    write(tmp_path, de="a = { $n ->\n [one] ein Treffer\n *[other] { $n } Treffer\n }\n")
    assert Messages(tmp_path, "de").text("a", n=count) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\x1b[2J", r"\x1b[2J"), ("a\u202eb", r"a\u202eb"), ("a\nb", r"a\nb"), (None, "None"), (True, "True"),
        (["x"], "['x']"), ("x" * 9999, "x" * (LONGEST_ARGUMENT - 1) + "…"),
    ],
)  # fmt: skip
def test_an_argument_cannot_disturb_whoever_reads(tmp_path: Path, value: Any, text: str) -> None:
    assert said(tmp_path, "a = { $x }", x=value) == text


def test_an_argument_that_has_no_text_is_a_question_mark(tmp_path: Path) -> None:
    class Bad:
        def __str__(self) -> str:
            raise RuntimeError

    assert said(tmp_path, "a = { $x }", x=Bad()) == "?"


def test_escaping_can_be_left_to_whoever_shows_the_text(tmp_path: Path) -> None:
    assert Messages(write(tmp_path, en_US="a = { $x }"), escape=False).text("a", x="one\ntwo") == "one\ntwo"


def test_an_argument_may_have_any_name(tmp_path: Path) -> None:
    assert Messages(write(tmp_path, en_US="a = { $key } { $self }")).text("a", key="k", self="s") == "k s"


def test_a_key_that_is_missing_is_escaped_too(tmp_path: Path) -> None:
    assert said(tmp_path, "a = A", key="\x1b") == r"<\x1b>"


@pytest.mark.parametrize(
    "text",
    [
        "a = { a }",
        "a = { b }\nb = { a }",
        "a = { -t }\n-t = { -t }",
        "a = " + "{ " * 2000,
        "a = { NUMBER($x, minimumIntegerDigits: 1) }",
        "a =",
        "a = x" + " y" * LONGEST_MESSAGE,
    ],
)
def test_a_text_that_cannot_be_made_is_no_text(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, text, x=10**4000) == "<a>"


def test_a_number_is_never_padded_to_a_million_digits(tmp_path: Path) -> None:
    assert len(said(tmp_path, "a = { NUMBER(1, minimumIntegerDigits: 3000000) }")) < 40
    assert len(said(tmp_path, "a = { NUMBER(1, minimumFractionDigits: 3000000) }")) < 40


def test_a_text_that_multiplies_itself_stays_small(tmp_path: Path) -> None:
    bomb = "".join(f"a{n} = {f'{{ a{n + 1} }}' * 10}\n" for n in range(9)) + "a9 = " + "x" * 1000
    assert len(said(tmp_path, bomb, key="a0")) < LONGEST_MESSAGE * 2500


@settings(max_examples=100)
@given(text=st.text(alphabet='abk-${}[]*="\\. \n#') | st.text(), key=st.sampled_from(["a", "b", "k"]))
def test_no_file_raises(tmp_path_factory: pytest.TempPathFactory, text: str, key: str) -> None:
    folder = write(tmp_path_factory.getbasetemp() / "fuzz", en_US=text.encode("utf-8", "replace").decode())
    assert isinstance(Messages(folder).text(key, a=1, b="x"), str)
    check_messages(MANIFEST, folder)
    texts(MANIFEST, folder)


@pytest.mark.parametrize("data", [b"a = \xff", b"a = " + b"x" * MOST_BYTES])
def test_a_file_that_cannot_be_used_is_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "en-US.ftl").write_bytes(data)
    assert Messages(tmp_path).text("a") == "<a>"


def test_the_largest_file_that_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "en-US.ftl").write_bytes(b"a = A\n".ljust(MOST_BYTES, b"\n"))
    assert Messages(tmp_path).text("a") == "A"


def test_a_folder_in_the_place_of_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "en-US.ftl").mkdir()
    assert Messages(tmp_path).text("a") == "<a>"


# -- the texts of a manifest -----------------------------------------------------------------------------------------


def everything(**change: str | None) -> str:
    """A file that has a text for each key of the good manifest; None leaves one out."""
    values = {key: f"Text of {key}" for key in KEYS} | {key.replace("_", "-"): value for key, value in change.items()}
    return "".join(f"{key} = {value}\n" for key, value in values.items() if value is not None)


def found(folder: Path, manifest: Manifest = MANIFEST) -> list[tuple[str, str, str]]:
    violations: tuple[Violation, ...] = check_messages(manifest, folder)
    assert all(one.fix for one in violations)
    return [(one.code, one.pointer, one.message) for one in violations]


def test_texts_of_every_locale_with_what_they_name(tmp_path: Path) -> None:
    write(
        tmp_path, en_US=everything(tool_search="{ tool-cite } it"), de="tool-search = Sucht\nother = x", fr="other = x"
    )
    (tmp_path / "README.ftl").write_text("tool-search = no locale")
    said = texts(MANIFEST, tmp_path)
    assert list(said) == ["de", "en-US"]
    assert said["de"] == {"tool-search": "Sucht"}
    assert said["en-US"]["tool-search"] == "Text of tool-cite it"
    assert texts(MANIFEST, None) == texts(MANIFEST, tmp_path / "missing") == {}


def test_good_messages_have_no_violations(tmp_path: Path) -> None:
    assert found(write(tmp_path, en_US=everything(), de="tool-search = Sucht")) == []


def test_a_key_that_english_lacks_is_named_where_the_manifest_names_it(tmp_path: Path) -> None:
    write(tmp_path, en_US=everything(tool_search=None, tool_serch="x"), de=everything())
    (violation,) = check_messages(MANIFEST, tmp_path)
    assert (violation.code, violation.pointer, violation.severity) == (
        "message-missing", "/provides/tools/0/descriptionKey", "error",
    )  # fmt: skip
    assert f"{violation.message}. {violation.fix}" == (
        'en-US.ftl has no text for "tool-search". did you mean "tool-serch"?'
    )


@pytest.mark.parametrize("locales", [{}, {"de": everything()}])
def test_without_an_english_file_one_violation_says_so(tmp_path: Path, locales: dict[str, str]) -> None:
    assert found(write(tmp_path, **locales)) == [
        ("messages-missing", "/locales", 'the manifest names texts, and the file "locales/en-US.ftl" is not there')
    ]


def test_a_manifest_without_texts_needs_no_files() -> None:
    small = manifest_of(
        {key: value for key, value in GOOD.items() if key not in ("capabilities", "permissions", "provides")}
    )
    assert check_messages(small, None) == ()


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("{ tool-search }", "message-cyclic", '"tool-search" in en-US.ftl contains itself'),
        (
            "{ $count } items", "message-unresolved",
            '"tool-search" in en-US.ftl cannot be resolved: unknown external: count',
        ),
        (
            "{ nothing }", "message-unresolved",
            '"tool-search" in en-US.ftl cannot be resolved: unknown message: nothing',
        ),
        ('{ "" }', "message-empty", '"tool-search" in en-US.ftl says nothing'),
        (
            '{ "\\u001B" }[2J', "message-unprintable",
            '"tool-search" in en-US.ftl holds control characters, or ones that reorder text',
        ),
        (
            "a\u202eb", "message-unprintable",
            '"tool-search" in en-US.ftl holds control characters, or ones that reorder text',
        ),
    ],
)  # fmt: skip
def test_a_text_that_nobody_can_read(tmp_path: Path, text: str, code: str, message: str) -> None:
    write(tmp_path, en_US=everything(tool_search=text))
    assert found(tmp_path) == [(code, "/provides/tools/0/descriptionKey", message)]


def test_a_text_in_another_language_is_looked_at_too(tmp_path: Path) -> None:
    write(tmp_path, en_US=everything(), de="tool-search = { $x }")
    assert [(code, message.split(" cannot")[0]) for code, _, message in found(tmp_path)] == [
        ("message-unresolved", '"tool-search" in de.ftl')
    ]


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ("123 = x\n", "messages-syntax", "en-US.ftl, line 15, column 1: expected an entry start"),
        ("z = { $a\n", "messages-syntax", 'en-US.ftl, line 16, column 1: expected token: "}"'),
        ("why-web = again\n", "messages-duplicate",
         'en-US.ftl, line 15, column 1: "why-web" stands there a second time, and only the first counts'),
        ("z = { z }\n", "message-cyclic", '"z" in en-US.ftl contains itself'),
        ("z = " + "x" * 9000, "message-too-long", 'en-US.ftl, line 15, column 1: "z" is too long to be used'),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_named_with_its_line(tmp_path: Path, more: str, code: str, message: str) -> None:
    assert len(KEYS) == 14
    assert found(write(tmp_path, en_US=everything() + more)) == [(code, "/locales", message)]


def test_a_file_that_nests_too_deeply(tmp_path: Path) -> None:
    write(tmp_path, en_US=everything(), de="a = " + "{ " * 3000)
    assert found(tmp_path) == [("messages-syntax", "/locales", "de.ftl: it nests too deeply")]


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b"\xff", "messages-not-utf8", "de.ftl: it is not UTF-8"),
        (b" " * (MOST_BYTES + 1), "messages-too-large", "de.ftl: it is larger than 262144 bytes"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, data: bytes, code: str, message: str) -> None:
    write(tmp_path, en_US=everything())
    (tmp_path / "de.ftl").write_bytes(data)
    assert found(tmp_path) == [(code, "/locales", message)]


def test_a_plugin_has_a_bounded_number_of_languages(tmp_path: Path) -> None:
    write(tmp_path, **{f"a{one}{other}": "" for one in "abcdefgh" for other in "abcdefgh"})
    assert len(locales_in(tmp_path)) == MOST_LOCALES


def test_a_seal_is_of_the_manifest_and_of_every_message_file(tmp_path: Path) -> None:
    def now(text: str = "{}") -> str:
        return seal(text, files_in(tmp_path))

    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return now()

    seals = [
        now(), now("{ }"), write("en-US.ftl", "a = b"), write("en-US.ftl", "a = c"), write("de.ftl", "a = c"),
        write("de.ftl", ""),
    ]  # fmt: skip
    assert len(set(seals)) == len(seals)
    (tmp_path / "notes.txt").write_text("no message file")
    assert now() == seals[-1]
    (tmp_path / "de.ftl").rename(tmp_path / "fr.ftl")
    assert now() not in seals
    assert now() == now()
