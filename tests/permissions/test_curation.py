from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.permissions import OWNER, Principal
from yazcore.permissions.curation import Curation, profile
from yazcore.violations import YazError

names = st.frozensets(st.sampled_from("abc"))
curations = st.builds(Curation, tools=st.none() | names, read_only=st.booleans())
principals = st.builds(Principal, name=st.just("anna"), tools=st.none() | names, read_only=st.booleans())


def knows(principal: Principal, tool: str, posture: str) -> bool:
    """What the gate makes of it."""
    return (principal.tools is None or tool in principal.tools) and not (principal.read_only and posture == "write")


@given(curations, principals, st.sampled_from("abc"), st.sampled_from(["read", "write"]))
def test_what_is_left_is_what_both_leave(curation: Curation, principal: Principal, tool: str, posture: str) -> None:
    whole = Principal(name="x", tools=curation.tools, read_only=curation.read_only)
    both = knows(principal, tool, posture) and knows(whole, tool, posture)
    assert knows(curation.of(principal), tool, posture) == both


@given(curations, principals)
def test_nothing_else_of_a_principal_changes_and_doing_it_again_changes_nothing(
    curation: Curation, principal: Principal
) -> None:
    once = curation.of(principal)
    assert (once.name, once.owner, once.grants) == (principal.name, principal.owner, principal.grants)
    assert curation.of(once) == once


def test_no_curation_leaves_the_very_principal() -> None:
    assert Curation().of(OWNER) is OWNER


@pytest.mark.parametrize(
    ("settings", "curation"),
    [
        ({"tools": ["a", "b"]}, Curation(tools=frozenset("ab"))),
        ({"tools": []}, Curation(tools=frozenset())),
        ({"read-only": True}, Curation(read_only=True)),
        ({"tools": ["a"], "read-only": False}, Curation(tools=frozenset("a"))),
        ({}, Curation()),
    ],
)
def test_a_profile_is_a_saved_curation(settings: dict[str, Any], curation: Curation) -> None:
    assert profile({"profiles": {"citing": settings}}, "citing") == curation


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], "settings.toml: profiles is no table"),
        ({"citing": []}, "settings.toml: profiles.citing is no table"),
        ({"citing": {"tools": "a"}}, "settings.toml: profiles.citing.tools is no list of names"),
        ({"citing": {"tools": [1]}}, "settings.toml: profiles.citing.tools is no list of names"),
        ({"citing": {"read-only": 1}}, "settings.toml: profiles.citing.read-only is neither true nor false"),
        ({"citing": {"readonly": True}}, "settings.toml: profiles.citing.readonly is nothing that a profile has"),
    ],
)
def test_a_profile_that_cannot_be_understood_is_refused_and_never_wider(settings: Any, message: str) -> None:
    with pytest.raises(YazError) as raised:
        profile({"profiles": settings}, "citing")
    assert (raised.value.code, raised.value.message) == ("profile-broken", message)


@pytest.mark.parametrize(
    ("settings", "fix"),
    [
        ({}, "there are none"),
        ({"profiles": {"b": {}, "a": {}}}, "there are a, b"),
        ({"profiles": {"citing": {}}}, "did you mean 'citing'?"),
    ],
)
def test_a_profile_that_is_not_there_is_said_with_those_that_are(settings: dict[str, Any], fix: str) -> None:
    with pytest.raises(YazError) as raised:
        profile(settings, "citin")
    assert raised.value.as_json() == {
        "code": "profile-unknown", "message": "settings.toml has no profile 'citin'", "fix": fix
    }  # fmt: skip
