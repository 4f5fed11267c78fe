from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.permissions import GLOBAL, PROJECT, PermissionGrant, ScopeKind
from yazcore.permissions.words import grant_word, read_grant
from yazcore.violations import YazError

CLUSTER = ScopeKind(name="cluster", argument="clusterId", parse=lambda text: text.lower() if text.isalpha() else None)
KINDS = (GLOBAL, PROJECT, CLUSTER)
A = "prj_aaaaaaaaaaaa"


@pytest.mark.parametrize(
    ("word", "grant"),
    [
        ("zotero:read", PermissionGrant("zotero:read")),
        ("zotero:*", PermissionGrant("zotero:*")),
        ("zotero:read@global", PermissionGrant("zotero:read")),
        ("yaz:read@project", PermissionGrant("yaz:read", "project")),
        (f"yaz:read@project:{A}", PermissionGrant("yaz:read", "project", A)),
        (f"yaz:read@{A}", PermissionGrant("yaz:read", "project", A)),
        ("my-plugin:do-it@cluster:Ab", PermissionGrant("my-plugin:do-it", "cluster", "ab")),
    ],
)
def test_a_word_is_a_grant_with_the_id_in_its_one_spelling(word: str, grant: PermissionGrant) -> None:
    assert read_grant(word, KINDS) == grant


@pytest.mark.parametrize(
    "word",
    [
        "", "*", "*:*", "*:read", "zotero", "zotero:", ":read", "Zotero:read", "zotero:r*", "zotero:re ad", "a:b:c",
        "zotero:read\n", "zot*:read", "x" * 390 + ":read-and-more",
    ],
)  # fmt: skip
def test_what_is_no_permission_is_refused(word: str) -> None:
    with pytest.raises(YazError) as raised:
        read_grant(word, KINDS)
    assert raised.value.code == "grant-permission"


@pytest.mark.parametrize(
    "where",
    ["", "galaxy", "project:", "project:nope", f"{A}x", f"project:{A}\n", "global:1", "cluster:7", "@project", "*"],
)
def test_what_is_no_scope_is_refused_and_the_scopes_are_named(where: str) -> None:
    nothing = ScopeKind(name="cluster", argument="c", parse=lambda text: None)
    with pytest.raises(YazError) as raised:
        read_grant(f"yaz:read@{where}", (GLOBAL, PROJECT, nothing))
    assert (raised.value.code, raised.value.fix) == (
        "grant-scope", "leave it out for everywhere, or write @project or @project:ID or @cluster or @cluster:ID"
    )  # fmt: skip


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_is_anything_but_a_grant_or_refused(permission: str, where: str) -> None:
    for word in (permission, f"{permission}@{where}", f"yaz:read@{where}"):
        with contextlib.suppress(YazError):
            grant = read_grant(word, KINDS)
            assert read_grant(grant_word(grant), KINDS) == grant


@pytest.mark.parametrize("word", ["yaz:read", "yaz:*", "yaz:read@project", f"yaz:read@project:{A}"])
def test_a_grant_is_written_as_it_is_read(word: str) -> None:
    assert grant_word(read_grant(word, KINDS)) == word
