from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yaz_plugin_zotero.folding import fold, plain, searchable, spelled_out, tokens


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Gödel", "godel"),
        (unicodedata.normalize("NFD", "Gödel"), "godel"),
        ("ÉCOLE", "ecole"),
        ("Straße", "strasse"),
        ("Sørensen & Łukasik", "sorensen & lukasik"),
        ("Æther Œuvre Þing Ðu đ ı", "aether oeuvre thing du d i"),
        ("ДОСТОЕВСКИЙ", "достоевскии"),
        ("ΣΟΦΟΣ", "σοφοσ"),
        ("ﬁrst ½ ２", "first 1/2 2"),
        ("“pre–post” don’t", '"pre-post" don\'t'),
        ("co\u00adoperation\u200b", "cooperation"),
        ("自然言語", "自然言語"),
    ],
)
def test_folding_drops_accents_case_and_typography(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_folding_a_folded_text_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_folding_does_not_depend_on_composition(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [("Müller", "mueller"), ("Öl", "oel"), ("Ångström", "aangstroem"), ("Muller", None), ("é", None)],
)
def test_umlauts_have_a_second_form(text: str, written: str | None) -> None:
    assert spelled_out(text) == written


def test_markup_is_left_out_and_other_angle_brackets_stay() -> None:
    title = '<i>E. coli</i> in H<sub>2</sub>O, <span class="nocase">mRNA</span>, a <tag> and 1 < 2\n\t end'
    assert plain(title) == "E. coli in H2O, mRNA, a <tag> and 1 < 2 end"


def test_words_are_cut_at_punctuation() -> None:
    assert tokens("native_nora:2022 o'brien r&d 50%") == ["native", "nora", "2022", "o", "brien", "r", "d", "50"]


def test_scripts_without_spaces_come_in_pairs_and_the_last_sign_alone() -> None:
    assert tokens("自然言語 ab処理x") == ["自然", "然言", "言語", "語", "ab", "処理", "理", "x"]


def test_searchable_text_has_both_forms_of_an_umlaut() -> None:
    assert searchable("Jürgen Müller") == ("jurgen muller juergen mueller", "jurgen muller juergen mueller")


@given(st.text())
def test_tokens_hold_no_blank_and_no_sign_of_a_query_language(text: str) -> None:
    for token in tokens(fold(text)):
        assert token
        assert all(unicodedata.category(sign)[0] in "LMN" for sign in token)
