from __future__ import annotations

import pytest

from yazcore.home import Home
from yazcore.permissions import PermissionGrant, Principal
from yazcore.permissions.lending import Lending
from yazcore.permissions.tokens import Tokens
from yazcore.violations import YazError


def test_a_lent_token_is_whatever_the_named_one_is_at_that_moment(home: Home) -> None:
    tokens = Tokens(home)
    lending = Lending(tokens)
    own = tokens.create("anna")
    lent = lending.lend("anna")
    assert lent not in (own, "")
    assert lending.lend("anna") == lent
    assert lending.principal_of(lent) == lending.principal_of(own) == Principal(name="anna")
    tokens.grant("anna", [PermissionGrant("demo:read")])
    assert lending.principal_of(lent) == Principal(name="anna", grants=(PermissionGrant("demo:read"),))
    tokens.revoke("anna")
    assert lending.principal_of(lent) is None


def test_a_lent_token_expires_with_the_named_one(home: Home) -> None:
    now = [1000.0]
    tokens = Tokens(home, lambda: now[0])
    tokens.create("anna", seconds=10)
    lending = Lending(tokens)
    lent = lending.lend("anna")
    assert lending.principal_of(lent) is not None
    now[0] += 10
    assert lending.principal_of(lent) is None


def test_a_lent_token_is_good_in_one_running_application_alone(home: Home) -> None:
    tokens = Tokens(home)
    tokens.create("anna")
    lent = Lending(tokens).lend("anna")
    assert Lending(tokens).principal_of(lent) is None
    assert tokens.principal_of(lent) is None


def test_nothing_is_lent_for_a_name_that_nobody_has(home: Home) -> None:
    with pytest.raises(YazError, match="there is no token 'anna'"):
        Lending(Tokens(home)).lend("anna")


@pytest.mark.parametrize("text", ["", "anna", "yaz_", "yaz_\ud800"])
def test_any_other_text_is_nobodys(home: Home, text: str) -> None:
    tokens = Tokens(home)
    tokens.create("anna")
    lending = Lending(tokens)
    lending.lend("anna")
    assert lending.principal_of(text) is None
