from __future__ import annotations

from pathlib import Path

import pytest

from tests import keyring_in_test
from tests.cli.commands import Done, Shell

SECRET = "s3cret-of-mine"


@pytest.fixture(autouse=True)
def _keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.keyring_in_test.Keyring")
    monkeypatch.setenv(keyring_in_test.FILE, str(tmp_path / "keyring.json"))


def given(yaz: Shell, text: str, *arguments: str) -> Done:
    return yaz.here("secret", *arguments, typed=text)


def test_a_secret_is_set_listed_and_forgotten_and_never_printed(yaz: Shell) -> None:
    done = given(yaz, f"{SECRET}\n", "set", "zotero/api-key", "--host", "API.zotero.org")
    assert (done.status, done.out) == (0, "zotero/api-key is kept in the keyring, for api.zotero.org only\n")
    listed = yaz.here("secret", "list")
    assert [line.split()[:5] for line in listed.out.splitlines()] == [
        ["NAME", "KEPT", "IN", "FOR", "HOSTS"],
        ["zotero/api-key", "the", "keyring", "api.zotero.org", listed.out.split()[-1]],
    ]
    forgotten = yaz.here("secret", "forget", "zotero/api-key")
    assert (forgotten.status, forgotten.out) == (0, "zotero/api-key is forgotten\n")
    assert SECRET not in done.out + done.err + listed.out + forgotten.out
    assert yaz.here("secret", "list").out == "no secret is kept; yaz secret set NAME keeps one\n"


def test_the_line_break_at_the_end_is_no_part_of_it(yaz: Shell, tmp_path: Path) -> None:
    given(yaz, f"{SECRET}\r\n", "set", "github")
    assert f'"{SECRET}"' in (tmp_path / "keyring.json").read_text()


def test_a_variable_is_named_and_nothing_is_asked(yaz: Shell) -> None:
    done = given(yaz, "", "set", "github", "--env", "GH_TOKEN", "--json")
    assert {**done.json, "time": ""} == {"name": "github", "from": "env:GH_TOKEN", "hosts": [], "time": ""}
    assert yaz.here("secret", "list", "--json").json["secrets"] == [done.json]


@pytest.mark.parametrize(
    ("arguments", "text", "code"),
    [
        (("set", "a b"), "x", "secret-name"),
        (("set", "a"), "", "secret-invalid"),
        (("set", "a", "--env", "A B"), "", "secret-variable"),
        (("set", "a", "--host", "https://x.org"), "x", "secret-host"),
        (("forget", "a"), "", "secret-unknown"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_code(
    yaz: Shell, arguments: tuple[str, ...], text: str, code: str
) -> None:
    done = given(yaz, text, *arguments)
    assert done.status == 1
    assert done.err.startswith(f"yaz: [{code}] ")


def test_without_a_keyring_the_way_out_is_said(yaz: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    done = given(yaz, SECRET, "set", "github")
    assert done.status == 1
    assert done.err == (
        "yaz: [keyring-unavailable] no keyring can be used: PYTHON_KEYRING_BACKEND names "
        "keyring.backends.fail.Keyring, which keeps nothing. put the secret in an environment variable, and name that: "
        "yaz secret set NAME --env VARIABLE\n"
    )


def test_two_answers_to_one_question_are_wrong_use(yaz: Shell) -> None:
    assert given(yaz, SECRET, "set", "a", "--host", "b.org", "--any-host").status == 2
