from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.permissions import GLOBAL, OWNER, PROJECT, PermissionGrant, Principal, may

DECLARED = frozenset({"zotero:read", "zotero:write", "zoteroo:read", "yaz:look"})
A = "prj_aaaaaaaaaaaa"
B = "prj_bbbbbbbbbbbb"


def principal(*grants: PermissionGrant) -> Principal:
    return Principal(name="agent", grants=grants)


def test_without_a_grant_nothing_may_be_done() -> None:
    assert not may(principal(), "zotero:read", "global", None, DECLARED)


def test_the_owner_may_do_whatever_is_declared() -> None:
    assert may(OWNER, "zotero:write", "project", A, DECLARED)


def test_the_owner_may_not_do_what_no_active_plugin_declares() -> None:
    assert not may(OWNER, "gone:read", "global", None, DECLARED)


def test_a_grant_of_what_nobody_declares_grants_nothing() -> None:
    assert not may(principal(PermissionGrant("gone:read")), "gone:read", "global", None, DECLARED)


def test_a_grant_allows_its_own_action_and_no_other() -> None:
    reader = principal(PermissionGrant("zotero:read"))
    assert may(reader, "zotero:read", "global", None, DECLARED)
    assert not may(reader, "zotero:write", "global", None, DECLARED)
    assert not may(reader, "zoteroo:read", "global", None, DECLARED)


def test_a_global_grant_counts_in_every_scope() -> None:
    assert may(principal(PermissionGrant("zotero:read")), "zotero:read", "project", A, DECLARED)


def test_a_grant_for_one_project_counts_there_only() -> None:
    reader = principal(PermissionGrant("zotero:read", "project", A))
    assert may(reader, "zotero:read", "project", A, DECLARED)
    assert not may(reader, "zotero:read", "project", B, DECLARED)
    assert not may(reader, "zotero:read", "global", None, DECLARED)


def test_a_grant_for_every_project_counts_in_each_and_not_globally() -> None:
    reader = principal(PermissionGrant("zotero:read", "project"))
    assert may(reader, "zotero:read", "project", A, DECLARED)
    assert may(reader, "zotero:read", "project", B, DECLARED)
    assert not may(reader, "zotero:read", "global", None, DECLARED)


def test_a_grant_in_one_kind_of_scope_gives_nothing_in_another() -> None:
    assert not may(principal(PermissionGrant("zotero:read", "project")), "zotero:read", "cluster", A, DECLARED)


def test_a_wildcard_grants_all_actions_of_one_plugin() -> None:
    everything = principal(PermissionGrant("zotero:*"))
    assert may(everything, "zotero:read", "global", None, DECLARED)
    assert may(everything, "zotero:write", "global", None, DECLARED)
    assert not may(everything, "zoteroo:read", "global", None, DECLARED)
    assert not may(everything, "yaz:look", "global", None, DECLARED)


@pytest.mark.parametrize("permission", ["*", "*:*", ":*", "*:read", "zot*:read", "zotero:r*", "zotero:", "", "zotero"])
def test_any_other_wildcard_grants_nothing(permission: str) -> None:
    grants = principal(PermissionGrant(permission))
    assert not any(may(grants, action, "global", None, DECLARED) for action in DECLARED)


@given(
    st.lists(
        st.builds(
            PermissionGrant,
            st.sampled_from([*sorted(DECLARED), "zotero:*", "*", "gone:read"]),
            st.sampled_from(["global", "project", "cluster"]),
            st.sampled_from([None, A, B]),
        ),
        max_size=4,
    ),
    st.sampled_from([*sorted(DECLARED), "gone:read"]),
    st.sampled_from(["global", "project"]),
    st.sampled_from([None, A, B]),
)
def test_one_more_grant_never_takes_anything_away(
    grants: list[PermissionGrant], action: str, scope: str, scope_id: str | None
) -> None:
    if may(principal(*grants[1:]), action, scope, scope_id, DECLARED):
        assert may(principal(*grants), action, scope, scope_id, DECLARED)


@pytest.mark.parametrize("text", [A, "prj_abcdefgh2345", "prj_zzzzzzzzzzz7"])
def test_a_project_id_is_its_own_canonical_form(text: str) -> None:
    assert PROJECT.parse(text) == text


@pytest.mark.parametrize(
    "text",
    ["", "prj_", "prj_aaaaaaaaaaa", "prj_aaaaaaaaaaaaa", "PRJ_aaaaaaaaaaaa", "prj_aaaaaaaaaaa1", f" {A}", f"{A}\n"],
)
def test_another_text_is_no_project_id(text: str) -> None:
    assert PROJECT.parse(text) is None


def test_the_hidden_answer_names_neither_the_project_nor_the_permission() -> None:
    assert PROJECT.hidden == "No such project, or no permission for it; list_projects shows yours."


def test_the_global_scope_has_no_argument_and_nothing_to_hide() -> None:
    assert (GLOBAL.name, GLOBAL.argument, GLOBAL.hidden) == ("global", None, "")
