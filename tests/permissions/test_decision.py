"""One host's decision: what everybody has, scope kinds that decide themselves, and a callback in place of grants."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from yazcore.permissions import GLOBAL, OWNER, PROJECT, Decision, PermissionGrant, Principal, ScopeKind

DECLARED = frozenset({"demo:read", "demo:write", "yaz:look"})
A = "prj_aaaaaaaaaaaa"
ANNA = Principal(name="anna", grants=(PermissionGrant("demo:read", "project", A),))
KINDS = (GLOBAL, PROJECT)


def test_without_anything_of_the_hosts_the_grants_count() -> None:
    decision = Decision(kinds=KINDS)
    assert decision.may(ANNA, "demo:read", "project", A, DECLARED)
    assert not decision.may(ANNA, "demo:read", "global", None, DECLARED)
    assert not decision.may(ANNA, "demo:write", "project", A, DECLARED)
    assert not decision.asks_elsewhere(PROJECT)


def test_what_everyone_has_needs_no_grant_and_has_to_be_declared() -> None:
    decision = Decision(kinds=KINDS, everyone=frozenset({"yaz:look", "yaz:gone"}))
    assert decision.may(Principal(name="nobody"), "yaz:look", "global", None, DECLARED)
    assert decision.may(Principal(name="nobody"), "yaz:look", "project", A, DECLARED)
    assert not decision.may(OWNER, "yaz:gone", "global", None, DECLARED)


@pytest.mark.parametrize("scope", [("global", None), ("project", A), ("project", None)])
def test_a_callback_is_asked_in_place_of_the_grants(scope: tuple[str, str | None]) -> None:
    asked: list[Any] = []

    def permits(*question: Any) -> bool:
        asked.append(question)
        return question[1] == "demo:write"

    decision = Decision(kinds=KINDS, permits=permits)
    assert decision.may(ANNA, "demo:write", *scope, DECLARED)
    assert not decision.may(ANNA, "demo:read", *scope, DECLARED)
    assert asked == [(ANNA, "demo:write", *scope), (ANNA, "demo:read", *scope)]
    assert decision.asks_elsewhere(GLOBAL)


def test_a_callback_is_not_asked_for_what_nobody_declares_nor_for_the_owner() -> None:
    def permits(*question: Any) -> bool:
        raise AssertionError(question)

    decision = Decision(kinds=KINDS, permits=permits)
    assert not decision.may(ANNA, "gone:read", "global", None, DECLARED)
    assert decision.may(OWNER, "demo:write", "project", A, DECLARED)


@pytest.mark.parametrize("answer", [1, "yes", None, object(), False])
def test_whatever_is_not_true_is_no(answer: Any) -> None:
    decision = Decision(kinds=KINDS, permits=lambda *question: answer)
    assert not decision.may(ANNA, "demo:read", "project", A, DECLARED)


def test_a_callback_that_is_a_coroutine_function_by_mistake_allows_nothing() -> None:
    made = []

    async def permits(*question: Any) -> bool:
        return True

    def called(*question: Any) -> Any:
        made.append(permits(*question))
        return made[-1]

    assert not Decision(kinds=KINDS, permits=called).may(ANNA, "demo:read", "project", A, DECLARED)
    made[0].close()


def test_a_kind_that_decides_itself_goes_before_the_callback_and_for_itself_alone() -> None:
    """An environment's grant counts on its clusters (S-37)."""
    members = {"c1": "production", "c2": "test"}

    def in_environment(principal: Principal, action: str, cluster: str | None) -> bool:
        return any(one.names(action) and one.scope_id == members.get(cluster or "") for one in principal.grants)

    cluster = ScopeKind(name="cluster", argument="clusterId", parse=str, may=in_environment)
    decision = Decision(kinds=(GLOBAL, cluster), permits=lambda *question: False)
    operator = Principal(name="op", grants=(PermissionGrant("demo:read", "environment", "production"),))
    assert decision.may(operator, "demo:read", "cluster", "c1", DECLARED)
    assert not decision.may(operator, "demo:read", "cluster", "c2", DECLARED)
    assert not decision.may(operator, "demo:read", "cluster", None, DECLARED)
    assert not decision.may(operator, "demo:write", "cluster", "c1", DECLARED)
    assert not decision.may(operator, "demo:read", "global", None, DECLARED)
    assert decision.asks_elsewhere(cluster)


def test_everywhere_is_what_may_be_done_in_every_scope() -> None:
    decision = Decision(kinds=KINDS, everyone=frozenset({"yaz:look"}))
    anna = attrs.evolve(ANNA, grants=(*ANNA.grants, PermissionGrant("demo:write")))
    assert decision.everywhere(anna, DECLARED, DECLARED) == {"demo:write", "yaz:look"}
    assert decision.everywhere(OWNER, DECLARED, DECLARED) == DECLARED


def test_the_grants_to_show_are_those_that_count() -> None:
    here = PermissionGrant("demo:read", "cluster", "c1")
    anna = attrs.evolve(ANNA, grants=(*ANNA.grants, here))
    rows = [PermissionGrant("demo:write", "cluster", "c2")]
    cluster = ScopeKind(name="cluster", argument="clusterId", parse=str)
    deciding = attrs.evolve(cluster, may=lambda *question: True)

    def no(*question: Any) -> bool:
        return False

    assert Decision(kinds=(*KINDS, cluster)).granted(anna) == anna.grants
    assert Decision(kinds=(*KINDS, deciding)).granted(anna) == ANNA.grants
    assert Decision(kinds=KINDS, permits=no).granted(anna) == ()
    assert Decision(kinds=KINDS, permits=no, grants_of=lambda who: rows).granted(anna) == tuple(rows)


def test_kinds_of_which_only_a_call_can_tell_are_named() -> None:
    cluster = ScopeKind(name="cluster", argument="clusterId", parse=str, may=lambda *question: True)

    def no(*question: Any) -> bool:
        return False

    assert Decision(kinds=KINDS).unlisted(ANNA) == ()
    assert Decision(kinds=(*KINDS, cluster)).unlisted(ANNA) == (cluster,)
    assert Decision(kinds=KINDS, permits=no).unlisted(ANNA) == (PROJECT,)
    assert Decision(kinds=KINDS, permits=no).unlisted(OWNER) == ()
    assert Decision(kinds=KINDS, permits=no, grants_of=lambda who: []).unlisted(ANNA) == ()
