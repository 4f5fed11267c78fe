from __future__ import annotations

import contextvars
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import keyring_in_test
from yazcore.capabilities import keyrings
from yazcore.capabilities.keyrings import SystemKeyring, within
from yazcore.violations import YazError


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SystemKeyring:
    use(monkeypatch, "Keyring")
    monkeypatch.setenv(keyring_in_test.FILE, str(tmp_path / "keyring.json"))
    return SystemKeyring("yaz 0")


@pytest.fixture
def held() -> Iterator[None]:
    """What waits for its window goes on when the test is over."""
    keyring_in_test.opened.clear()
    yield
    keyring_in_test.opened.set()


def use(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"tests.keyring_in_test.{name}")


def refused(work: Any) -> YazError:
    with pytest.raises(YazError) as caught:
        work()
    return caught.value


def test_what_is_put_is_got_and_removed(keyring: SystemKeyring) -> None:
    keyring.put("api-key", "s3cret")
    assert keyring.get("api-key") == "s3cret"
    assert SystemKeyring("yaz 1").get("api-key") is None
    keyring.remove("api-key")
    keyring.remove("api-key")
    assert keyring.get("api-key") is None


@pytest.mark.parametrize("name", ["fail.Keyring", "null.Keyring", "chainer.ChainerBackend"])
def test_a_backend_that_keeps_nothing_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"keyring.backends.{name}")
    error = refused(lambda: SystemKeyring("yaz 0").put("a", "b"))
    assert error.code == "keyring-unavailable"
    assert error.message == (
        f"no keyring can be used: PYTHON_KEYRING_BACKEND names keyring.backends.{name}, which keeps nothing"
    )
    assert error.fix == "put the secret in an environment variable, and name that: yaz secret set NAME --env VARIABLE"


@pytest.mark.parametrize("name", ["tests.keyring_in_test.Broken", "no.such.Backend", "nonsense", "."])
def test_a_backend_that_cannot_be_had_is_no_keyring(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", name)
    assert refused(lambda: SystemKeyring("yaz 0").get("a")).code == "keyring-unavailable"


def test_without_a_bus_there_is_no_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND", raising=False)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path / 'none'}")
    monkeypatch.setattr(keyrings, "_SYSTEM", {sys.platform: ("keyring.backends.SecretService.Keyring", "no.Such")})
    error = refused(lambda: SystemKeyring("yaz 0").get("a"))
    assert (error.code, error.message) == (
        "keyring-unavailable", "no keyring can be used: no keyring of this system is running"
    )  # fmt: skip


def test_a_refusal_repeats_no_secret(monkeypatch: pytest.MonkeyPatch, keyring: SystemKeyring) -> None:
    use(monkeypatch, "Locked")
    error = refused(lambda: keyring.put("api-key", "s3cret"))
    assert (error.code, error.message) == ("keyring-failed", "the keyring refused: KeyringLocked")
    assert "s3cret" not in f"{error}{error.__cause__}"


def test_a_keyring_that_waits_is_given_up(monkeypatch: pytest.MonkeyPatch, held: None) -> None:
    use(monkeypatch, "Waiting")
    error = refused(lambda: SystemKeyring("yaz 0", seconds=0.02).get("a"))
    assert (error.code, error.message) == ("keyring-slow", "the keyring did not answer in 0.02 seconds")


def test_questions_that_wait_are_few(monkeypatch: pytest.MonkeyPatch, held: None) -> None:
    use(monkeypatch, "Waiting")
    before = threading.active_count()
    for _ in range(keyrings.MOST_WAITING * 2):
        assert refused(lambda: SystemKeyring("yaz 0", seconds=0.01).get("a")).code == "keyring-slow"
    assert threading.active_count() - before <= keyrings.MOST_WAITING


def test_the_question_is_asked_outside_any_plugins_context() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    variable.set("a plugin's")
    assert within(5, variable.get) == "none"


def test_no_entry_point_of_another_distribution_is_loaded(tmp_path: Path) -> None:
    """keyring's own search would run the code that any distribution offers as `keyring.backends`."""
    folder = tmp_path / "evil-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[keyring.backends]\nevil = evil\n")
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    code = (
        "from yazcore.capabilities.keyrings import SystemKeyring\n"
        "from yazcore.violations import YazError\n"
        "try:\n    SystemKeyring('yaz 0').get('a')\nexcept YazError as error:\n    print(error.code)\n"
    )
    root = Path(__file__).parents[2]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{tmp_path}:{root}", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "keyring-unavailable\n"
    assert not (tmp_path / "ran").exists()
