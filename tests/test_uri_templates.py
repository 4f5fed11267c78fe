from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.uri_templates import BadTemplate, expand, match, variables


def test_variables_are_given_in_order() -> None:
    assert variables("yaz://zotero/library/{library}/item/{key}") == ("library", "key")


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("yaz://a/{b", "only {name} and {+name} may stand in a template"),
        ("yaz://a/{?q}", "only {name} and {+name} may stand in a template"),
        ("yaz://a/{b*}", "only {name} and {+name} may stand in a template"),
        ("yaz://a/{b}/{b}", "a variable stands twice"),
        ("yaz://a/{b}{c}", "two variables touch: nothing says where one ends"),
    ],
)
def test_other_forms_are_refused(template: str, why: str) -> None:
    with pytest.raises(BadTemplate) as refused:
        variables(template)
    assert str(refused.value) == why


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
)
def test_what_is_expanded_is_matched_again(library: str, key: str) -> None:
    template = "yaz://z/library/{library}/item/{key}"
    assert match(template, expand(template, {"library": library, "key": key})) == {"library": library, "key": key}


def test_a_plain_variable_holds_no_slash_but_a_path_variable_does() -> None:
    assert match("yaz://p/{name}", "yaz://p/a/b") is None
    assert match("yaz://p/{+path}", "yaz://p/a/b%20c.typ") == {"path": "a/b c.typ"}


@pytest.mark.parametrize("uri", ["yaz://p/", "yaz://p/a%zz", "yaz://p/%ff", "yaz://p/a?b", "yaz://P/a", "yaz://p/a\n"])
def test_a_uri_that_is_no_expansion_is_no_match(uri: str) -> None:
    assert match("yaz://p/{name}", uri) is None
