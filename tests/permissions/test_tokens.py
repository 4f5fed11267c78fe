from __future__ import annotations

import json
import logging
import stat
import threading
from typing import Any

import attrs
import pytest

from yazcore.home import Home
from yazcore.permissions import PermissionGrant, Principal
from yazcore.permissions.tokens import FILE, RESERVED_NAMES, Tokens
from yazcore.violations import YazError

READ = PermissionGrant("demo:read")
IN_A = PermissionGrant("demo:write", "project", "prj_aaaaaaaaaaaa")


@attrs.define
class Clock:
    """A time that a test sets, in seconds since 1970."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(home: Home, clock: Clock) -> Tokens:
    return Tokens(home, clock)


def test_whoever_has_the_token_comes_as_the_principal_that_was_named(tokens: Tokens) -> None:
    text = tokens.create("anna", [READ, IN_A, READ], tools=["b", "a", "b"], read_only=True)
    assert tokens.principal_of(text) == Principal(
        name="anna", grants=(READ, IN_A), tools=frozenset({"a", "b"}), read_only=True
    )


def test_a_token_without_anything_is_somebody_who_may_nothing(tokens: Tokens) -> None:
    assert tokens.principal_of(tokens.create("anna")) == Principal(name="anna")


def test_tokens_are_long_random_and_known_at_sight(tokens: Tokens) -> None:
    made = [tokens.create(f"n{number}") for number in range(20)]
    assert len(set(made)) == 20
    assert all(text.startswith("yaz_") and len(text) == 47 for text in made)


def test_the_token_itself_is_nowhere_on_disk_and_the_file_is_the_users_alone(home: Home, tokens: Tokens) -> None:
    text = tokens.create("anna", [READ])
    files = [path for path in home.folder.rglob("*") if path.is_file()]
    assert files
    assert not any(text[4:].encode() in path.read_bytes() for path in files)
    assert stat.S_IMODE(home.path(FILE).stat().st_mode) == 0o600
    assert text not in repr(tokens.all())


@pytest.mark.parametrize("text", ["", "yaz_", "yaz_x", "owner", "x" * 10_000, "yaz_\ud800", "yaz_ü"])
def test_any_other_text_is_nobodys(tokens: Tokens, text: str) -> None:
    tokens.create("anna")
    assert tokens.principal_of(text) is None


def test_the_digest_is_no_token(home: Home, tokens: Tokens) -> None:
    tokens.create("anna")
    digest = home.read_json(FILE)["tokens"]["anna"]["digest"]
    assert tokens.principal_of(digest) is None
    assert tokens.principal_of(f"yaz_{digest}") is None


def test_a_revoked_token_is_nobodys_at_once_in_another_process_too(home: Home, tokens: Tokens) -> None:
    text = tokens.create("anna")
    assert tokens.principal_of(text) is not None
    Tokens(home).revoke("anna")
    assert tokens.principal_of(text) is None
    assert tokens.all() == ()


def test_grants_change_what_the_next_question_gets(home: Home, tokens: Tokens) -> None:
    text = tokens.create("anna", [READ])
    assert grants_of(tokens, text) == (READ,)
    Tokens(home).grant("anna", [IN_A, READ])
    assert grants_of(tokens, text) == (READ, IN_A)
    Tokens(home).withdraw("anna", [READ])
    assert grants_of(tokens, text) == (IN_A,)


def grants_of(tokens: Tokens, text: str) -> tuple[PermissionGrant, ...]:
    principal = tokens.principal_of(text)
    assert principal is not None
    return principal.grants


def test_taking_back_what_was_not_given_changes_nothing(tokens: Tokens) -> None:
    text = tokens.create("anna", [READ, IN_A])
    with pytest.raises(YazError) as raised:
        tokens.withdraw("anna", [READ, PermissionGrant("demo:write")])
    assert raised.value.as_json() == {
        "code": "token-not-granted", "message": "anna was not granted demo:write",
        "fix": "it was granted demo:read, demo:write@project:prj_aaaaaaaaaaaa",
    }  # fmt: skip
    assert grants_of(tokens, text) == (READ, IN_A)


def test_a_new_secret_kills_the_old_one_and_keeps_the_rest(tokens: Tokens) -> None:
    old = tokens.create("anna", [READ], tools=["a"])
    new = tokens.renew("anna")
    assert tokens.principal_of(old) is None
    assert tokens.principal_of(new) == Principal(name="anna", grants=(READ,), tools=frozenset({"a"}))


def test_a_token_is_good_until_it_expires(tokens: Tokens, clock: Clock) -> None:
    text = tokens.create("anna", seconds=60)
    clock.now += 59
    assert tokens.principal_of(text) is not None
    clock.now += 1
    assert tokens.principal_of(text) is None
    (kept,) = tokens.all()
    assert (kept.created, kept.expires) == ("2027-01-15T08:00:00+00:00", "2027-01-15T08:01:00+00:00")


@pytest.mark.parametrize(
    "name", ["", "Anna", "an na", "-anna", "anna-", "a--b", "anna\n", "../anna", "ä", "x" * 49, *sorted(RESERVED_NAMES)]
)
def test_what_is_no_name_is_refused(home: Home, tokens: Tokens, name: str) -> None:
    with pytest.raises(YazError) as raised:
        tokens.create(name)
    assert raised.value.code == "token-name"
    assert not home.path(FILE).exists()


@pytest.mark.parametrize("name", ["a", "anna", "anna-2", "a.b_c-d", "x" * 48])
def test_a_name_may_be_short_long_or_joined(tokens: Tokens, name: str) -> None:
    tokens.create(name)
    assert tokens.get(name).name == name


def test_a_name_is_given_once(tokens: Tokens) -> None:
    text = tokens.create("anna", [READ])
    with pytest.raises(YazError) as raised:
        tokens.create("anna")
    assert (raised.value.code, raised.value.fix) == ("token-exists", "yaz token renew anna makes a new secret for it")
    assert grants_of(tokens, text) == (READ,)


@pytest.mark.parametrize("act", ["get", "revoke", "renew"])
def test_a_token_that_is_not_there_is_said_with_those_that_are(tokens: Tokens, act: str) -> None:
    tokens.create("ben")
    with pytest.raises(YazError) as raised:
        getattr(tokens, act)("anna")
    assert (raised.value.code, raised.value.fix) == ("token-unknown", "there are ben")


GOOD: dict[str, Any] = {
    "digest": "0" * 64, "created": "2027-01-15T08:00:00+00:00", "expires": None, "grants": [], "tools": None,
    "readOnly": False,
}  # fmt: skip


@pytest.mark.parametrize(
    "document",
    [
        [], {}, {"tokens": []}, {"tokens": {"a": None}}, {"tokens": {"a": {}}},
        *({"tokens": {"a": {**GOOD, key: value}}} for key, value in [
            ("digest", "0" * 63), ("digest", None), ("created", "today"), ("created", "2027-01-15T08:00:00"),
            ("expires", 7), ("grants", "x"), ("grants", [7]), ("tools", [None]), ("readOnly", 0), ("more", 1),
        ]),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_understood_opens_nothing_and_is_not_written_over(
    home: Home, tokens: Tokens, caplog: pytest.LogCaptureFixture, document: Any
) -> None:
    text = tokens.create("anna")
    home.path(FILE).write_text(json.dumps(document))
    with caplog.at_level(logging.ERROR):
        assert tokens.principal_of(text) is None
        assert tokens.principal_of(text) is None
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("named tokens open nothing: tokens.json cannot be understood: ")
    for act in (tokens.all, lambda: tokens.create("ben"), lambda: tokens.revoke("anna")):
        with pytest.raises(YazError) as raised:
            act()
        assert raised.value.code == "tokens-broken"
    assert json.loads(home.path(FILE).read_text()) == document


def test_a_good_file_of_the_same_shape_is_read(home: Home, tokens: Tokens) -> None:
    home.write_json(FILE, {"tokens": {"a": {**GOOD, "grants": ["demo:read", "demo:write@project:prj_aaaaaaaaaaaa"]}}})
    assert tokens.get("a").grants == (READ, IN_A)


def test_many_at_once_lose_nothing(home: Home) -> None:
    def make(number: int) -> None:
        Tokens(home).create(f"n{number}")

    threads = [threading.Thread(target=make, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Tokens(home).all()) == 12
