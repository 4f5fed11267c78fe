from __future__ import annotations

import stat
from typing import Any

import pytest

from yazcore.capabilities.secrets import MOST_BYTES, Secrets
from yazcore.home import Home
from yazcore.violations import YazError


class Memory:
    """A keyring of a process's own."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def __call__(self, service: str) -> Entries:
        return Entries(self.kept, service)


class Entries:
    def __init__(self, kept: dict[tuple[str, str], str], service: str) -> None:
        self._kept = kept
        self._service = service

    def get(self, name: str) -> str | None:
        return self._kept.get((self._service, name))

    def put(self, name: str, secret: str) -> None:
        self._kept[self._service, name] = secret

    def remove(self, name: str) -> None:
        self._kept.pop((self._service, name), None)


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def store(home: Home, memory: Memory) -> Secrets:
    return Secrets(home, memory)


def code(work: Any) -> str:
    with pytest.raises(YazError) as caught:
        work()
    return caught.value.code


def test_a_secret_is_kept_in_the_keyring_and_only_its_record_on_disk(home: Home, store: Secrets) -> None:
    store.keep("zotero/api-key", "s3cret")
    assert store.of("zotero/api-key") == "s3cret"
    assert store.read("keyring:zotero/api-key") == "s3cret"
    path = home.path("secrets.json")
    assert "s3cret" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_two_homes_share_no_entry(home: Home, store: Secrets, memory: Memory) -> None:
    other = Secrets(Home(home.folder / "other"), memory)
    store.keep("a", "mine")
    other.keep("a", "theirs")
    assert (store.of("a"), other.of("a")) == ("mine", "theirs")


def test_a_name_may_stand_for_a_variable(store: Secrets, monkeypatch: pytest.MonkeyPatch) -> None:
    store.point("github", "GH_TOKEN")
    monkeypatch.delenv("GH_TOKEN", raising=False)
    assert code(lambda: store.of("github")) == "secret-variable-unset"
    monkeypatch.setenv("GH_TOKEN", "s3cret")
    assert store.of("github") == store.read("keyring:github") == store.read("env:GH_TOKEN") == "s3cret"


def test_what_stands_for_a_variable_leaves_the_keyring(store: Secrets, memory: Memory) -> None:
    store.keep("github", "old")
    store.point("github", "GH_TOKEN")
    assert memory.kept == {}


def test_hosts_stay_until_they_are_set_anew(store: Secrets) -> None:
    store.keep("a", "1", ("API.Zotero.org", "b.org"))
    assert store.keep("a", "2").hosts == ("api.zotero.org", "b.org")
    assert store.keep("a", "2", ()).hosts == ()


def test_a_secret_is_forgotten(store: Secrets, memory: Memory) -> None:
    store.keep("a", "1")
    store.point("b", "B")
    assert store.forget("a")
    assert store.forget("b")
    assert not store.forget("a")
    assert memory.kept == {}
    assert store.all() == ()
    assert code(lambda: store.of("a")) == "secret-unknown"


def test_an_entry_that_went_from_the_keyring_is_unknown(store: Secrets, memory: Memory) -> None:
    store.keep("a", "1")
    memory.kept.clear()
    assert code(lambda: store.of("a")) == "secret-unknown"


@pytest.mark.parametrize("name", ["", "a b", "../x", "zotero/../x", "a/b/c", "Zotero/x", "-a", "a\n", "a" * 65, "é"])
def test_what_is_no_name_is_refused(store: Secrets, name: str) -> None:
    assert code(lambda: store.keep(name, "1")) == "secret-name"
    assert code(lambda: store.point(name, "A")) == "secret-name"


@pytest.mark.parametrize("secret", ["", "a\0b", "x" * (MOST_BYTES + 1), "\ud800"])
def test_what_is_no_secret_is_refused(store: Secrets, memory: Memory, secret: str) -> None:
    assert code(lambda: store.keep("a", secret)) == "secret-invalid"
    assert memory.kept == {}


@pytest.mark.parametrize("variable", ["", "A B", "1A", "A=B", "A\n"])
def test_what_is_no_variable_is_refused(store: Secrets, variable: str) -> None:
    assert code(lambda: store.point("a", variable)) == "secret-variable"


def test_what_is_no_host_is_refused_before_anything_is_kept(store: Secrets, memory: Memory) -> None:
    assert code(lambda: store.keep("a", "1", ("https://x.org",))) == "secret-host"
    assert memory.kept == {}


@pytest.mark.parametrize("reference", ["", "s3cret", "keyring:", "keyring:a b", "env:", "env:A B", "file:/x", "ENV:A"])
def test_what_is_no_reference_is_refused_and_not_repeated(store: Secrets, reference: str) -> None:
    with pytest.raises(YazError) as caught:
        store.read(reference)
    assert caught.value.code == "secret-reference"
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"vault": "x", "secrets": {}}',
        '{"vault": "0123456789abcdef", "secrets": []}',
        '{"vault": "0123456789abcdef", "secrets": {"a": {}}}',
        '{"vault": "0123456789abcdef", "secrets": {"a": {"variable": 5, "hosts": [], "time": ""}}}',
        '{"vault": "0123456789abcdef", "secrets": {"a": {"variable": null, "hosts": [5], "time": ""}}}',
    ],
)
def test_a_file_that_cannot_be_understood_gives_nothing(home: Home, store: Secrets, text: str) -> None:
    home.write_text("secrets.json", text)
    assert code(store.all) == "secrets-broken"
    assert code(lambda: store.of("a")) == "secrets-broken"
    assert code(lambda: store.keep("a", "1")) == "secrets-broken"
