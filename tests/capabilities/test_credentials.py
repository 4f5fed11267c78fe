from __future__ import annotations

from typing import Any

import pytest

from tests.capabilities.conftest import PLUGIN, Setup
from tests.capabilities.test_secrets import Memory
from yazcore.capabilities.errors import CapabilityError, NoContext, ServiceError
from yazcore.capabilities.secrets import Secrets
from yazcore.capabilities.services.credentials import CredentialService, Purse
from yazcore.declarations import Posture
from yazcore.kinds import Credential
from yazcore.violations import YazError


@pytest.fixture
def store(setup: Setup) -> Secrets:
    setup.hold(Credential(names=("api-key",)))
    return Secrets(setup.home, Memory())


def service(setup: Setup, store: Secrets) -> CredentialService:
    return CredentialService(setup.broker(), PLUGIN, store)


def spent(setup: Setup, store: Secrets, name: str, host: str, posture: Posture = "read") -> str:
    with setup.call(posture) as frame:
        return Purse(setup.broker(), PLUGIN, store).spend(name, host, frame)


def test_a_plugin_keeps_and_the_host_spends(setup: Setup, store: Secrets) -> None:
    with setup.call():
        credentials = service(setup, store)
        assert not credentials.known("api-key")
        credentials.keep("api-key", "s3cret")
        assert credentials.known("api-key")
    assert spent(setup, store, "api-key", "api.zotero.org") == "s3cret"
    assert [one.name for one in store.all()] == ["zotero/api-key"]
    with setup.call():
        assert service(setup, store).forget("api-key")
        assert not service(setup, store).forget("api-key")


def test_no_method_gives_a_secret_back(setup: Setup, store: Secrets) -> None:
    public = [name for name in dir(CredentialService) if not name.startswith("_")]
    assert public == ["forget", "keep", "known"]


@pytest.mark.parametrize("method", ["keep", "forget"])
def test_a_call_of_posture_read_changes_none(setup: Setup, store: Secrets, method: str) -> None:
    arguments = ("api-key", "s3cret") if method == "keep" else ("api-key",)
    with setup.call("read"), pytest.raises(CapabilityError) as refused:
        getattr(service(setup, store), method)(*arguments)
    assert (refused.value.kind, refused.value.reason) == ("credential", "out-of-scope")
    assert setup.recorded() == [("credential", "api-key", "out-of-scope")]
    assert store.all() == ()


@pytest.mark.parametrize("name", ["other", "", "api-key\0", "../api-key", "zotero/api-key", "Api-Key"])
def test_another_name_is_out_of_scope(setup: Setup, store: Secrets, name: str) -> None:
    store.keep("zotero/other", "s3cret")
    acts: list[Any] = [
        lambda: service(setup, store).known(name),
        lambda: service(setup, store).keep(name, "x"),
        lambda: service(setup, store).forget(name),
    ]
    for act in acts:
        with setup.call(), pytest.raises(CapabilityError) as refused:
            act()
        assert refused.value.reason == "out-of-scope"
    with pytest.raises(CapabilityError):
        spent(setup, store, name, "a.org")


def test_a_secret_is_in_no_record(setup: Setup, store: Secrets) -> None:
    with setup.call("read"), pytest.raises(CapabilityError) as refused:
        service(setup, store).keep("api-key", "s3cret")
    assert "s3cret" not in f"{refused.value} {refused.value.target} {setup.denials.of(PLUGIN)}"


def test_another_plugins_secret_of_the_same_name_is_another(setup: Setup, store: Secrets) -> None:
    store.keep("api-key", "the user's own")
    store.keep("notes/api-key", "of notes")
    with pytest.raises(ServiceError) as missing:
        spent(setup, store, "api-key", "a.org")
    assert (missing.value.code, missing.value.message) == (
        "credential-missing",
        "no secret is kept under api-key; the user can set one with: yaz secret set zotero/api-key",
    )


def test_a_secret_that_is_bound_to_hosts_goes_to_no_other(setup: Setup, store: Secrets) -> None:
    store.keep("zotero/api-key", "s3cret", ("api.zotero.org",))
    assert spent(setup, store, "api-key", "api.zotero.org") == "s3cret"
    with pytest.raises(CapabilityError) as refused:
        spent(setup, store, "api-key", "evil.org")
    assert (refused.value.reason, refused.value.detail) == ("out-of-scope", "the user has bound it to other hosts")
    assert setup.denials.of("zotero")[-1]["cause"] == "secret-bound"
    assert setup.recorded() == [("credential", "api-key to evil.org", "out-of-scope")]
    with setup.call():
        service(setup, store).keep("api-key", "new")
    with pytest.raises(CapabilityError):
        spent(setup, store, "api-key", "evil.org")


def test_what_the_user_has_in_a_variable_the_plugin_cannot_change(
    setup: Setup, store: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "s3cret")
    store.point("zotero/api-key", "KEY")
    assert spent(setup, store, "api-key", "a.org") == "s3cret"
    for act in (lambda: service(setup, store).keep("api-key", "x"), lambda: service(setup, store).forget("api-key")):
        with setup.call(), pytest.raises(ServiceError) as fixed:
            act()
        assert fixed.value.code == "credential-fixed"


def test_what_the_keyring_says_is_a_service_error(setup: Setup, store: Secrets) -> None:
    def broken(service: str) -> Any:
        raise YazError("keyring-unavailable", "no keyring can be used", "do this")

    with setup.call(), pytest.raises(ServiceError) as failed:
        service(setup, Secrets(setup.home, broken)).keep("api-key", "x")
    assert (failed.value.code, failed.value.message) == ("keyring-unavailable", "no keyring can be used")


def test_outside_a_context_there_is_no_service(setup: Setup, store: Secrets) -> None:
    with pytest.raises(NoContext):
        service(setup, store).known("api-key")


def test_only_texts_are_names_and_secrets(setup: Setup, store: Secrets) -> None:
    with setup.call(), pytest.raises(TypeError):
        service(setup, store).keep("api-key", b"bytes")  # type: ignore[arg-type]
    with setup.call(), pytest.raises(TypeError):
        service(setup, store).known(5)  # type: ignore[arg-type]
