from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hosts.console import CONTRACT as CONSOLE
from tests.manifest.archived import ENGLISH, ftl, package_files, sdist, wheel
from tests.manifest.installed import distribution
from tests.manifest.samples import CONTRACT, GOOD, good
from yazcore.contract import Contract
from yazcore.manifest.model import Updates
from yazcore.manifest.origins import Origin
from yazcore.manifest.preview import Entry, Preview, Section, agreement, preview
from yazcore.manifest.targets import Target, open_target
from yazcore.manifest.words import is_printable
from yazcore.violations import Violation

TEXTS = "yaz_plugin_zotero/locales/en-US.ftl"


def opened(path: Path | str, *site: Path, contract: Contract = CONTRACT) -> Target:
    return open_target(path, contract, path=[str(one) for one in site])


def page(path: Path | str, *site: Path, locale: str = "en-US", contract: Contract = CONTRACT) -> Preview:
    return preview(opened(path, *site, contract=contract), contract, locale)


def of(folder: Path, change: Callable[[dict[str, Any]], object], *, locale: str = "en-US") -> Preview:
    """The page for the good manifest after a change."""
    document = good()
    change(document)
    return page(wheel(folder, manifest=document), locale=locale)


def lines(shown: Preview) -> list[str]:
    """Everything on the page, line by line: marks as they are, what the plugin says behind a bar."""
    found = [shown.title, *(f"  {fact}" for fact in shown.facts), *(f"  | {said}" for said in shown.said)]
    for section in shown.sections:
        found += [f"[{section.key}] {section.heading}"]
        for entry in section.entries:
            mark = f" ({entry.mark})" if entry.mark else ""
            found += [f"  - {entry.text}{mark}", *(f"      {fact}" for fact in entry.facts)]
            found += [f"      | {said}" for said in entry.said]
    return [*found, shown.verdict]


def section(shown: Preview, key: str) -> Section:
    (found,) = (one for one in shown.sections if one.key == key)
    return found


ENGLISH_PAGE = """\
Zotero 0.1.0 (zotero)
  by Anna, licence MIT
  https://example.org/anna/yaz-plugin-zotero
  wheel yaz_plugin_zotero-0.1.0-py3-none-any.whl, 9 files
  | Searches a Zotero library and cites from it.
[asks] What it asks for
  - send data to api.zotero.org (sensitive)
      sensitive; asked for when it is first needed
      | Looks up what your library lacks.
  - read and write the files of the project you work in, except protected ones such as .git and .env
      | Writes citations into your documents.
[tools] Tools for agents: 1 only reads, 1 changes something
  - zotero__search-library
      only reads; for everything; needs the permission zotero:read; no question before a call
      | Finds items by words.
  - zotero__cite-item (sensitive)
      changes something; in one project; needs the permission zotero:write; no question before a call
      | Cites one item.
[commands] Commands for you
  - cite
      | Cite something
[formats] Document formats
  - bib (.bib)
      | BibTeX
[resources] Resources for agents
  - yaz://zotero/library/{library}/item/{key}
      for everything; needs the permission zotero:read
      | Item
      | One item of a library.
  - yaz://zotero/libraries
      for everything; needs the permission zotero:read
      | Libraries
      | All libraries.
[prompts] Prompts
  - zotero__review
      for everything; needs the permission zotero:read
      | Reviews what you cite.
[settings] Settings
  - bibliography (text, references.bib unless you set it)
      | The file that citations go into
[permissions] Permissions it declares, for those who call it
  - zotero:read
      | Search the library
  - zotero:write
      | Cite into projects
[updates] Where updates come from
  - From PyPI, the Python Package Index.
  - Unverified: it is not installed, so nothing is recorded of where it came from.
[python] Python packages it needs
  - attrs>=25.1
  - tomli>=2; python_version < "3.11"
  - What of them is missing is installed with it: code like its own.
[wrong] What is wrong with it
  - Nothing.
yaz would accept it.
"""

GERMAN_PAGE = """\
Zotero 0.1.0 (zotero)
  von Anna, Lizenz MIT
  https://example.org/anna/yaz-plugin-zotero
  Wheel yaz_plugin_zotero-0.1.0-py3-none-any.whl, 9 Dateien
  | Searches a Zotero library and cites from it.
[asks] Worum es bittet
  - Daten an api.zotero.org senden (sensitive)
      heikel; wird beim ersten Bedarf erfragt
      | Looks up what your library lacks.
  - die Dateien des Projekts lesen und ändern, an dem Sie arbeiten, außer geschützten wie .git und .env
      | Schreibt Verweise in Ihre Dokumente.
[tools] Werkzeuge für Agenten: 1 liest nur, 1 ändert etwas
  - zotero__search-library
      liest nur; für alles; braucht die Berechtigung zotero:read; keine Frage vor einem Aufruf
      | Findet Titel nach Wörtern.
  - zotero__cite-item (sensitive)
      ändert etwas; in einem Projekt; braucht die Berechtigung zotero:write; keine Frage vor einem Aufruf
      | Zitiert einen Titel.
[commands] Befehle für Sie
  - cite
      | Cite something
[formats] Dokumentformate
  - bib (.bib)
      | BibTeX
[resources] Ressourcen für Agenten
  - yaz://zotero/library/{library}/item/{key}
      für alles; braucht die Berechtigung zotero:read
      | Item
      | One item of a library.
  - yaz://zotero/libraries
      für alles; braucht die Berechtigung zotero:read
      | Libraries
      | All libraries.
[prompts] Prompts
  - zotero__review
      für alles; braucht die Berechtigung zotero:read
      | Reviews what you cite.
[settings] Einstellungen
  - bibliography (Text, references.bib, solange Sie nichts anderes setzen)
      | The file that citations go into
[permissions] Berechtigungen, die es für seine Aufrufer nennt
  - zotero:read
      | Search the library
  - zotero:write
      | Cite into projects
[updates] Woher Updates kommen
  - Von PyPI, dem Python Package Index.
  - Unbestätigt: es ist nicht installiert, also ist nicht festgehalten, woher es kam.
[python] Python-Pakete, die es braucht
  - attrs>=25.1
  - tomli>=2; python_version < "3.11"
  - Was davon fehlt, wird mit installiert: Code wie sein eigener.
[wrong] Was daran falsch ist
  - Nichts.
yaz würde es annehmen.
"""


def test_the_page_in_english(tmp_path: Path) -> None:
    shown = page(wheel(tmp_path))
    assert "\n".join(lines(shown)) + "\n" == ENGLISH_PAGE
    assert shown.refused is False


@pytest.mark.parametrize("locale", ["de", "de-DE", "de-AT", "de_CH.UTF-8"])
def test_the_page_in_german_for_whoever_speaks_it(tmp_path: Path, locale: str) -> None:
    assert "\n".join(lines(page(wheel(tmp_path), locale=locale))) + "\n" == GERMAN_PAGE


@pytest.mark.parametrize("locale", ["fr", "C.UTF-8", "", "../../etc"])
def test_the_page_in_english_for_everybody_else(tmp_path: Path, locale: str) -> None:
    assert "\n".join(lines(page(wheel(tmp_path), locale=locale))) + "\n" == ENGLISH_PAGE


def test_the_page_is_data(tmp_path: Path) -> None:
    shown = page(wheel(tmp_path))
    document = shown.as_json()
    assert json.loads(json.dumps(document)) == json.loads(json.dumps(attrs.asdict(shown)))
    assert list(document) == ["title", "facts", "said", "sections", "verdict", "refused"]


# -- what it asks for -------------------------------------------------------------------------------------------------


def test_what_is_sensitive_comes_first_and_the_rest_as_it_was_written(tmp_path: Path) -> None:
    shown = of(
        tmp_path,
        lambda document: document.update(
            capabilities=[
                {"kind": "fs-read", "path": "/srv/b"},
                {"kind": "credential", "names": ["key"], "optional": True},
                {"kind": "fs-project"},
                {"kind": "process", "commands": ["git"]},
            ]
        ),
    )
    assert [(one.text.split()[0], one.mark, one.facts) for one in section(shown, "asks").entries] == [
        ("keep", "sensitive", ("sensitive; asked for when it is first needed",)),
        ("run", "sensitive", ("sensitive",)),
        ("read", "", ()),
        ("read", "", ()),
    ]


def test_a_plugin_that_asks_for_nothing_says_so(tmp_path: Path) -> None:
    shown = of(tmp_path, lambda document: document.pop("capabilities"))
    assert section(shown, "asks").entries == (Entry(text="Nothing: it reaches its own data alone."),)


# -- what it adds -----------------------------------------------------------------------------------------------------


def test_tools_are_counted_by_what_they_do(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        first, second = document["provides"]["tools"]
        document["provides"]["tools"] = [first, {**first, "name": "look"}, second]

    assert section(of(tmp_path, change), "tools").heading == "Tools for agents: 2 only read, 1 changes something"
    assert section(of(tmp_path, change, locale="de"), "tools").heading == (
        "Werkzeuge für Agenten: 2 lesen nur, 1 ändert etwas"
    )


def test_what_a_tool_may_do_is_said_whatever_the_plugin_says_of_it(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["provides"]["tools"][1] |= {
            "approval": "ask", "effect": {"destructive": True, "external": True, "idempotent": True},
        }  # fmt: skip

    tool = section(of(tmp_path, change), "tools").entries[1]
    assert tool.facts == (
        "changes something; in one project; needs the permission zotero:write; a question before each call",
        "it may delete or overwrite",
        "it reaches beyond your machine",
    )
    assert section(of(tmp_path, change, locale="de"), "tools").entries[1].facts[1:] == (
        "es kann löschen oder überschreiben", "es wirkt über Ihren Rechner hinaus",
    )  # fmt: skip


def test_what_it_adds_nothing_of_has_no_section(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["provides"] = {}
        del document["permissions"], document["updates"], document["license"], document["repository"]

    shown = of(tmp_path, change)
    assert [(one.key, one.heading) for one in shown.sections] == [
        ("asks", "What it asks for"),
        ("tools", "No tools for agents."),
        ("updates", "Where updates come from"),
        ("python", "Python packages it needs"),
        ("wrong", "What is wrong with it"),
    ]
    assert shown.facts[0] == "by Anna"


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ({"type": "boolean", "default": True}, "s (true or false, true unless you set it)"),
        ({"type": "integer", "default": 5}, "s (whole number, 5 unless you set it)"),
        ({"type": "number"}, "s (number)"),
    ],
)
def test_a_setting_has_its_type_and_its_default(tmp_path: Path, setting: dict[str, Any], text: str) -> None:
    entry = {"key": "s", "descriptionKey": "setting", **setting}
    shown = of(tmp_path, lambda document: document["provides"].update(settings=[entry]))
    assert [one.text for one in section(shown, "settings").entries] == [text]


def test_kinds_and_scopes_of_another_host_are_shown_too(tmp_path: Path) -> None:
    document = {**good(), "contract": CONSOLE.number}
    document["provides"] = {
        "panels": [{"id": "board", "nameKey": "command-cite"}],
        "tools": [
            {
                **GOOD["provides"]["tools"][1],
                "scope": "cluster",
                "inputSchema": {
                    "type": "object", "properties": {"clusterId": {"type": "string"}}, "required": ["clusterId"],
                },
            }
        ],
    }  # fmt: skip
    document["capabilities"] = []
    entry_points = f"[{CONSOLE.group}]\nzotero = yaz_plugin_zotero:manifest.json\n"
    path = wheel(tmp_path, name=f"{CONSOLE.prefix}zotero", manifest=document, entry_points=entry_points)
    shown = page(path, contract=CONSOLE)
    assert [line for line in lines(shown) if "violation" in line] == []
    assert section(shown, "panels") == Section(
        key="panels", heading="Under panels", entries=(Entry(text="board", said=("Cite something",)),)
    )
    assert "in one cluster" in section(shown, "tools").entries[0].facts[0]
    assert shown.verdict == f"{CONSOLE.host} would accept it."


# -- where it comes from ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [("index", "verified"), ("archive", "contradicted"), ("folder", "contradicted"), ("vcs", "contradicted"),
     (None, "unverified")],
)  # fmt: skip
def test_what_is_said_of_updates_is_held_against_what_is_recorded(source: Any, expected: str) -> None:
    assert agreement(Updates(source="pypi"), Origin(source=source)) == expected
    assert agreement(None, Origin(source=source)) is None


PYPI = {"source": "pypi"}
DIRECT = {"url": "https://u:p@a.org/x.whl", "archive_info": {}}


@pytest.mark.parametrize(
    ("updates", "installer", "direct", "expected"),
    [
        (
            PYPI, "pip", None,
            [("From PyPI, the Python Package Index.", ""),
             ("Verified: pip recorded that it was installed by name, from an index or a folder of wheels.", "")],
        ),
        (
            PYPI, "uv", DIRECT,
            [("From PyPI, the Python Package Index.", ""),
             ("Contradicted: uv recorded that it came from https://a.org/x.whl.", "warning")],
        ),
        (
            PYPI, "conda", None,
            [("From PyPI, the Python Package Index.", ""),
             ("Unverified: nothing is recorded of where it came from.", "")],
        ),
        (None, "pip", None, [("It does not say.", "")]),
        (None, "pip", DIRECT, [("It does not say.", ""), ("pip recorded that it came from https://a.org/x.whl.", "")]),
    ],
)  # fmt: skip
def test_where_an_installed_plugin_came_from(
    tmp_path: Path, updates: Any, installer: str, direct: Any, expected: list[tuple[str, str]]
) -> None:
    document = good()
    document["updates"] = updates
    if updates is None:
        del document["updates"]
    info = distribution(tmp_path, files=package_files(manifest=document))
    (info / "INSTALLER").write_text(installer)
    if direct is not None:
        (info / "direct_url.json").write_text(json.dumps(direct))
    shown = page("zotero", tmp_path)
    assert [(one.text, one.mark) for one in section(shown, "updates").entries] == expected
    assert shown.facts[-1] == "installed, 7 files"


def test_an_sdist_warns_of_its_build(tmp_path: Path) -> None:
    assert section(page(sdist(tmp_path)), "python").entries == (
        Entry(text="attrs>=25.1"),
        Entry(text="What of them is missing is installed with it: code like its own."),
        Entry(
            text="An sdist is built before it is installed, and its build runs code with all of your rights. "
            "A wheel is not.",
            mark="warning",
        ),
    )


def test_compiled_code_is_named(tmp_path: Path) -> None:
    path = wheel(tmp_path, more={"yaz_plugin_zotero/fast.abi3.so": b"\x7fELF"}, requires=())
    assert section(page(path), "python").entries == (
        Entry(
            text="It brings compiled code, which nobody can read: yaz_plugin_zotero/fast.abi3.so", mark="warning"
        ),
    )
    assert section(page(wheel(tmp_path, requires=())), "python").entries == (Entry(text="None."),)


# -- what is wrong with it --------------------------------------------------------------------------------------------


def test_everything_that_is_wrong_is_said_with_what_to_do(tmp_path: Path) -> None:
    document = good()
    document["licence"] = "MIT"
    shown = page(wheel(tmp_path, manifest=document, more={"zz.pth": ""}), locale="de")
    assert lines(shown)[:2] == ["zotero 0.1.0", "  Wheel yaz_plugin_zotero-0.1.0-py3-none-any.whl, 10 Dateien"]
    assert [one.key for one in shown.sections] == ["python", "wrong"]
    assert section(shown, "wrong").entries == (
        Entry(
            text="Verstoß: [distribution-startup-file]",
            mark="error",
            facts=(
                'it would install "zz.pth", which Python runs whenever it starts',
                "its author has to leave that file out",
            ),
        ),
        Entry(
            text="Verstoß: 173:3 /licence [manifest-unknown-key]",
            mark="error",
            facts=('unknown key "licence"', 'did you mean "license"?'),
        ),
    )
    assert (shown.verdict, shown.refused) == ("yaz würde es ablehnen: 2 Verstöße.", True)


def test_one_violation_is_one(tmp_path: Path) -> None:
    path = wheel(tmp_path, more={"zz.pth": ""})
    assert page(path).verdict == "yaz would refuse it: 1 violation."
    assert page(path, locale="de").verdict == "yaz würde es ablehnen: 1 Verstoß."


def test_a_warning_refuses_nothing(tmp_path: Path) -> None:
    target = opened(wheel(tmp_path, more={"zz.pth": ""}))
    warned = attrs.evolve(target, violations=(attrs.evolve(target.violations[0], severity="warning"),))
    shown = preview(warned, CONTRACT, "en-US")
    assert (shown.refused, shown.verdict) == (False, "yaz would accept it.")
    assert section(shown, "wrong").entries[0].mark == "warning"


def test_a_plugin_without_a_manifest_in_reach_has_a_page(tmp_path: Path) -> None:
    distribution(tmp_path, entry_points="[yaz.manifest]\nzotero\n")
    shown = page("zotero", tmp_path)
    assert (shown.title, shown.refused) == ("zotero 0.1.0", True)


# -- a page that nobody can forge -------------------------------------------------------------------------------------


def test_what_a_plugin_says_never_stands_where_the_host_speaks(tmp_path: Path) -> None:
    lie = "Fine.\\n\\nWhat is wrong with it\\n  - Nothing."
    document = good()
    document["description"] = lie.replace("\\n", "\n")
    texts = ftl(ENGLISH).replace("Finds items by words.", "Fine.\n\n    What it asks for\n    - Nothing.")
    shown = page(wheel(tmp_path, manifest=document, more={TEXTS: texts}))
    assert shown.refused is False
    assert shown.said == ("Fine.", "What is wrong with it", "- Nothing.")
    assert section(shown, "tools").entries[0].said == ("Fine.", "What it asks for", "- Nothing.")


TRICKS = "\x1b[2J\u202eevil\u2066\x9b1m\u2028\r"


def test_tricks_are_shown_as_what_they_are(tmp_path: Path) -> None:
    document = good()
    document |= {"name": f"Zotero{TRICKS}", "version": "0.1.0"}
    texts = ftl({**ENGLISH, "tool-search": f"Finds{TRICKS} items"})
    requires = ["a\u202eb", "\x1b[31mred"]
    target = opened(wheel(tmp_path, manifest=document, more={TEXTS: texts}, requires=requires))
    assert target.reading.manifest is None
    shown = [*lines(preview(target, CONTRACT, "de"))]
    assert all(is_printable(line) for line in shown)
    assert "  - a\\u202eb" in shown


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    return opened(wheel(tmp_path_factory.mktemp("wheels")))


@settings(deadline=None, max_examples=40)
@given(said=st.text(max_size=60), locale=st.sampled_from(["en-US", "de"]))
def test_no_text_of_a_plugin_breaks_a_line_of_the_page(target: Target, said: str, locale: str) -> None:
    manifest = target.reading.manifest
    assert manifest is not None
    whole = attrs.evolve(
        target,
        name=said,
        requires=(said,),
        files=(f"{said}.so",),
        texts={"en-US": dict.fromkeys(ENGLISH, said)},
        reading=attrs.evolve(
            target.reading,
            manifest=attrs.evolve(manifest, name=said, author=said, description=said, license=said, repository=said),
        ),
        origin=Origin(source="archive", url=said, installer=said),
        kind="installed",
        violations=(Violation("a-code", said, said, said, line=1, column=1),),
    )
    assert all(is_printable(line) for line in lines(preview(whole, CONTRACT, locale)))


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ((0, 0, 0), "The design rules find no error."),
        ((1, 1, 1), "The design rules find an error, one suspicion, one that its author answers."),
        ((2, 3, 4), "The design rules find 2 errors, 3 suspicions, 4 that its author answers."),
    ],
)
def test_how_its_surface_is_judged_is_said_where_somebody_looked(
    tmp_path: Path, findings: tuple[int, int, int], said: str
) -> None:
    target = opened(wheel(tmp_path))
    (section,) = (one for one in preview(target, CONTRACT, "en-US", findings).sections if one.key == "design")
    assert [entry.text for entry in section.entries] == [said]
    assert "design" not in {one.key for one in preview(target, CONTRACT, "en-US").sections}
