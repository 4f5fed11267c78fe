"""What a plugin is made with: its settings, its folder, its texts, and what it may publish."""

from __future__ import annotations

import math
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.running import call, running
from tests.manifest.samples import good, manifest_of
from tests.plugins_in_test import tool
from yazcore.capabilities.broker import Broker, GrantedSet
from yazcore.capabilities.context import Call, Context, Frame, current
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.errors import NoContext
from yazcore.capabilities.grants import RuntimeName
from yazcore.home import Home
from yazcore.kinds import FileRequest
from yazcore.manifest.model import Manifest
from yazcore.permissions import OWNER
from yazcore.plugin_context import make_context, setting_violations
from yazcore.results import RESULT_PREFIX, ResultStore

SETTINGS = [
    {"key": "bibliography", "type": "string", "default": "references.bib", "descriptionKey": "setting"},
    {"key": "limit", "type": "integer", "default": 20, "descriptionKey": "setting"},
    {"key": "ratio", "type": "number", "descriptionKey": "setting"},
    {"key": "warn", "type": "boolean", "default": True, "descriptionKey": "setting"},
]


@pytest.fixture
def manifest() -> Manifest:
    document = good()
    document["provides"]["settings"] = SETTINGS
    return manifest_of(document)


def write_settings(home: Home, text: str) -> None:
    home.path().mkdir(parents=True, exist_ok=True)
    home.path("settings.toml").write_text(text)


def made(
    manifest: Manifest, home: Home, folder: Path, *, locale: str = "en-US", results: ResultStore | None = None,
    granted: GrantedSet | None = None,
) -> tuple[Context, Broker]:  # fmt: skip
    return make_context(
        manifest, folder, home=home, granted=lambda: granted or GrantedSet(), denials=DenialLog(home),
        results=results or ResultStore(), locale=locale,
    )  # fmt: skip


# --- settings


def test_settings_are_the_declared_ones_with_their_defaults(manifest: Manifest, home: Home, tmp_path: Path) -> None:
    context, _ = made(manifest, home, tmp_path)
    assert context.settings == {"bibliography": "references.bib", "limit": 20, "ratio": None, "warn": True}


def test_what_the_user_set_counts_and_what_is_not_declared_does_not(
    manifest: Manifest, home: Home, tmp_path: Path
) -> None:
    write_settings(home, "[plugins.zotero]\nlimit = 5\nwarn = false\nother = 1\n[plugins.another]\nratio = 2.0\n")
    context, _ = made(manifest, home, tmp_path)
    assert context.settings == {"bibliography": "references.bib", "limit": 5, "ratio": None, "warn": False}


@pytest.mark.parametrize(
    "line", ["bibliography = 'a.bib'", "limit = 3", "ratio = 3", "ratio = 0.5", "warn = false", "other = []", ""]
)
def test_settings_of_the_declared_type_break_nothing(manifest: Manifest, home: Home, line: str) -> None:
    write_settings(home, f"[plugins.zotero]\n{line}\n")
    assert setting_violations(manifest, home) == []


@pytest.mark.parametrize(
    ("line", "key", "what"),
    [
        ("bibliography = 3", "bibliography", "a text"),
        ("limit = 2.5", "limit", "an integer"),
        ("limit = true", "limit", "an integer"),
        ("limit = '3'", "limit", "an integer"),
        ("ratio = true", "ratio", "a number"),
        ("warn = 1", "warn", "true or false"),
    ],
)
def test_a_setting_of_another_type_is_named(
    manifest: Manifest, home: Home, line: str, key: str, what: str
) -> None:
    write_settings(home, f"[plugins.zotero]\n{line}\n")
    assert [(one.code, one.message, one.fix) for one in setting_violations(manifest, home)] == [
        (
            "setting-wrong-type", f"settings.toml: plugins.zotero.{key} is not {what}",
            f"write {what}, or take the line out",
        )
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["plugins = 3", "[plugins]\nzotero = 'x'"])
def test_settings_that_are_no_table_are_said(manifest: Manifest, home: Home, tmp_path: Path, text: str) -> None:
    write_settings(home, text)
    assert [one.message for one in setting_violations(manifest, home)] == ["settings.toml: plugins.zotero is no table"]
    assert made(manifest, home, tmp_path)[0].settings["limit"] == 20


# --- folder, texts, services


def test_a_plugin_has_a_folder_of_its_own_that_nobody_else_reads(
    manifest: Manifest, home: Home, tmp_path: Path
) -> None:
    context, _ = made(manifest, home, tmp_path)
    assert context.data_folder.is_dir()
    assert stat.S_IMODE(context.data_folder.stat().st_mode) == 0o700
    assert home.folder in context.data_folder.parents


def test_texts_are_the_plugins_own_in_the_users_language(manifest: Manifest, home: Home, tmp_path: Path) -> None:
    (tmp_path / "locales").mkdir()
    (tmp_path / "locales" / "en-US.ftl").write_text("hello = Hello { $who }\nonly = English\n")
    (tmp_path / "locales" / "de.ftl").write_text("hello = Hallo { $who }\n")
    context, _ = made(manifest, home, tmp_path, locale="de-AT")
    assert context.message("hello", who="Anna") == "Hallo Anna"
    assert context.message("only") == "English"
    assert context.message("none") == "<none>"


def test_the_logger_is_named_for_the_plugin(manifest: Manifest, home: Home, tmp_path: Path) -> None:
    assert made(manifest, home, tmp_path)[0].log.name == "yaz.plugins.zotero"


def test_the_broker_decides_on_what_is_declared_and_what_is_granted_now(
    manifest: Manifest, home: Home, tmp_path: Path
) -> None:
    granted = GrantedSet(allowed=frozenset({manifest.capabilities[0].identity}))
    _, broker = made(manifest, home, tmp_path, granted=granted)
    assert broker.allows(FileRequest(area="project", path="a.typ", write=True))
    _, nothing = made(manifest, home, tmp_path)
    assert not nothing.allows(FileRequest(area="project", path="a.typ"))


# --- publishing


@pytest.fixture
def inside() -> Iterator[None]:
    frame = Frame(plugin="zotero", version="0.1.0", where="tools x", call=Call(posture="read", principal=OWNER))
    token = current.set(frame)
    yield
    current.reset(token)


@pytest.mark.usefixtures("inside")
def test_what_is_published_is_kept_for_the_caller_as_long_as_was_asked(
    manifest: Manifest, home: Home, tmp_path: Path
) -> None:
    now = [0.0]
    results = ResultStore(lambda: now[0])
    context, _ = made(manifest, home, tmp_path, results=results)
    uri = context.publish(b"%PDF", "application/pdf", 60)
    kept = results.get("owner", uri.removeprefix(RESULT_PREFIX))
    assert kept is not None
    assert (kept.data, kept.mime, kept.expires, kept.paged) == (b"%PDF", "application/pdf", 60.0, False)
    assert kept.plugin == manifest.id
    assert results.get("anna", kept.id) is None


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize(
    ("data", "mime", "ttl", "wrong"),
    [
        ("text", "text/plain", 60, "publish takes bytes, not a str"),
        (b"", "pdf", 60, "media type"), (b"", "text/plain\r\nX: 1", 60, "media type"), (b"", None, 60, "media type"),
        (b"", "text/plain", 0, "86400 seconds"), (b"", "text/plain", math.nan, "86400 seconds"),
        (b"", "text/plain", math.inf, "86400 seconds"), (b"", "text/plain", "60", "86400 seconds"),
        (b"", "text/plain", 86_401, "86400 seconds"),
    ],
)  # fmt: skip
def test_what_nobody_could_read_is_not_published(
    manifest: Manifest, home: Home, tmp_path: Path, data: Any, mime: Any, ttl: Any, wrong: str
) -> None:
    results = ResultStore()
    context, _ = made(manifest, home, tmp_path, results=results)
    with pytest.raises((TypeError, ValueError), match=wrong):
        context.publish(data, mime, ttl)
    assert results._kept == {}


def test_outside_a_call_nothing_is_published(manifest: Manifest, home: Home, tmp_path: Path) -> None:
    context, _ = made(manifest, home, tmp_path)
    with pytest.raises(NoContext):
        context.publish(b"", "text/plain", 60)


def test_a_plugin_that_publishes_something_else_crashes_and_its_reader_is_not_harmed(
    tmp_path: Path, home: Home, runtime: RuntimeName
) -> None:
    code = """
class Plugin:
    def __init__(self, context):
        pass

    @hookimpl
    def provide_tools(self):
        return [Tool("export", lambda context, arguments: {"uri": context.publish("text", "text/plain", 60)})]
"""
    with running(tmp_path, home, code, runtime=runtime, provides={"tools": [tool("export")]}) as host:
        assert "failed inside demo" in call(host, "demo__export").text
