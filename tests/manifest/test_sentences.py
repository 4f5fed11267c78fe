from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.kinds import CAPABILITY_KINDS, Capability, Credential, FsProject, FsRead, FsWrite, McpClient, Net, Process
from yazcore.manifest.messages import LONGEST_ARGUMENT
from yazcore.manifest.preview import LOCALES, host_messages
from yazcore.manifest.sentences import capability_sentence
from yazcore.manifest.words import escaped, is_printable

MESSAGES = {locale: host_messages(locale) for locale in ("en-US", "de", "de-AT")}


def said(capability: Capability, locale: str) -> str:
    return capability_sentence(capability, MESSAGES[locale].text)


CASES: list[tuple[Capability, str]] = [
    (
        FsProject(),
        "die Dateien des Projekts lesen, an dem Sie arbeiten, außer geschützten wie .git und .env",
    ),
    (
        FsProject(access="write"),
        "die Dateien des Projekts lesen und ändern, an dem Sie arbeiten, außer geschützten wie .git und .env",
    ),
    (FsProject(paths=("b", "a")), "a, b in dem Projekt lesen, an dem Sie arbeiten"),
    (FsProject(access="write", paths=("a",)), "a in dem Projekt lesen und ändern, an dem Sie arbeiten"),
    (FsRead(path="~/Zotero/"), "Dateien unterhalb von ~/Zotero lesen"),
    (FsRead(place="data"), "Dateien unterhalb des Ordners lesen, den Sie als data wählen"),
    (
        FsRead(place="data", suggest=("~/A", "~/B")),
        "Dateien unterhalb des Ordners lesen, den Sie als data wählen (Vorschlag: ~/A, ~/B)",
    ),
    (FsWrite(path="/srv/x"), "Dateien unterhalb von /srv/x lesen und ändern"),
    (FsWrite(place="data"), "Dateien unterhalb des Ordners lesen und ändern, den Sie als data wählen"),
    (
        FsWrite(place="data", suggest=("~/A",)),
        "Dateien unterhalb des Ordners lesen und ändern, den Sie als data wählen (Vorschlag: ~/A)",
    ),
    (Net(hosts=("b.org", "a.org")), "Daten an a.org, b.org senden"),
    (
        Net(hosts=("a.org",), ports=(8080, 443), private=True, read_methods=("GET", "POST", "REPORT")),
        (
            "Daten an a.org senden, über den Port 443, 8080, auch unverschlüsselt und im eigenen Netz, "
            "auch beim bloßen Lesen, mit POST, REPORT"
        ),
    ),
    (Process(commands=("git",)), "git ausführen, womit jedes Programm in denselben Grenzen laufen kann"),
    (McpClient(servers=("one",)), "Daten an Ihren MCP-Server one senden"),
    (
        McpClient(servers=("two", "one"), tools=("t",)),
        "Daten an Ihre MCP-Server one, two senden, nur an die Werkzeuge t",
    ),
    (
        Credential(names=("key",)),
        "die Geheimnisse key aufbewahren und verwenden, ohne sie zu sehen",
    ),
]


@pytest.mark.parametrize(("capability", "german"), CASES, ids=[case[1][:30] for case in CASES])
def test_every_kind_has_its_sentence_in_both_languages(capability: Capability, german: str) -> None:
    assert said(capability, "en-US") == capability.sentence()
    assert said(capability, "de-AT") == german


def test_no_kind_is_forgotten() -> None:
    assert {type(capability) for capability, _ in CASES} == set(CAPABILITY_KINDS)


words = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4).map(tuple)


@given(
    st.one_of(
        st.builds(FsProject, access=st.sampled_from(["read", "write"]), paths=st.none() | words),
        st.builds(FsRead, path=st.text(min_size=1)),
        st.builds(FsWrite, place=st.text(min_size=1), suggest=st.none() | words),
        st.builds(
            Net, hosts=words, ports=st.lists(st.integers(1, 65535), min_size=1, max_size=3).map(tuple),
            private=st.booleans(), read_methods=words,
        ),
        st.builds(Process, commands=words),
        st.builds(McpClient, servers=words, tools=st.none() | words),
        st.builds(Credential, names=words),
    )
)  # fmt: skip
def test_in_english_it_is_the_kinds_own_sentence_whatever_is_asked_for(capability: Capability) -> None:
    assert said(capability, "en-US") == escaped(capability.sentence())
    german = said(capability, "de")
    assert "<capability" not in german
    assert is_printable(german)


def test_a_list_that_is_too_long_for_a_text_is_shown_whole() -> None:
    hosts = tuple(f"host-{number:04}.example.org" for number in range(LONGEST_ARGUMENT // 10))
    for locale in ("en-US", "de"):
        text = said(Net(hosts=hosts), locale)
        assert all(host in text for host in hosts)


@attrs.frozen(kw_only=True)
class Panel(Capability):
    kind: ClassVar[str] = "panel"
    service: ClassVar[str] = "panels"

    def targets(self) -> dict[str, Any]:
        return {}

    def sentence(self) -> str:
        return "show a panel\u202e"


@attrs.frozen(kw_only=True)
class OtherFiles(FsProject):
    kind: ClassVar[str] = "other-files"


def test_a_kind_of_the_hosts_own_has_its_own_sentence() -> None:
    assert said(Panel(), "de") == "show a panel\\u202e"
    assert said(OtherFiles(), "de") == OtherFiles().sentence()


def test_the_languages_have_the_same_texts() -> None:
    messages = host_messages("en-US")
    assert sorted(path.stem for path in LOCALES.iterdir()) == ["de", "en-US"]
    assert messages.keys("de") == messages.keys("en-US")
