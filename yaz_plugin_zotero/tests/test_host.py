"""The plugin in a real host: found, compared, activated, called through the gate."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from yazcore import OWNER, Home, Host, ProtocolFault
from yazcore.capabilities.grants import Grant, RuntimeName
from yazcore.writing.contract import YAZ

import yaz_plugin_zotero
from yaz_plugin_zotero.sample import SampleLibrary

PACKAGE = Path(yaz_plugin_zotero.__file__).parent
PROJECT_ID = "prj_aaaabbbbcccc"


@attrs.frozen
class Project:
    root: Path
    id: str = PROJECT_ID
    name: str = "paper"


@pytest.fixture
def host(
    tmp_path: Path, project: Path, finished_library: SampleLibrary, runtime: RuntimeName
) -> Iterator[Host]:
    made = Host(
        YAZ,
        home=Home(tmp_path / "yaz"),
        builtin=[PACKAGE],
        resolve={"project": {PROJECT_ID: Project(project)}.get},
        discover=False,
    )
    places = {"zotero-data": str(finished_library.path.parent)}
    made.grants.put(Grant(plugin="zotero", places=places, runtime=runtime, time="2026-01-01T00:00:00+00:00"))
    made.activate()
    yield made
    made.close()


def call(host: Host, tool: str, arguments: dict[str, Any]) -> Any:
    return asyncio.run(host.gate.call_tool(OWNER, f"zotero__{tool}", arguments))


def test_what_it_registers_is_what_it_declares(host: Host) -> None:
    status = next(one for one in host.plugins() if one.id == "zotero")
    assert (status.state, status.violations, status.differences, status.reasons) == ("active", (), (), ())
    assert status.confinement.startswith({"trusted": "none", "isolated": "Landlock"}[status.runtime])


def test_an_agent_searches_and_cites(host: Host, project: Path) -> None:
    (project / "paper.typ").write_text('Costs grow.\n#bibliography("references.bib")\n')
    found = call(host, "search-library", {"query": "mueller cost", "limit": 1})
    assert not found.is_error
    key = found.structured["items"][0]["key"]
    cited = call(
        host, "cite-item", {"projectId": PROJECT_ID, "key": key, "document": "paper.typ", "after": "Costs grow"}
    )
    assert not cited.is_error
    assert cited.structured["citationKey"] == "mueller2024cost"
    assert (project / "paper.typ").read_text() == 'Costs grow @mueller2024cost.\n#bibliography("references.bib")\n'
    assert (project / "references.bib").read_text().startswith("@article{mueller2024cost,\n")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search-library", {"query": "a", "limit": 51}),
        ("search-library", {"query": "a", "limit": 0}),
        ("search-library", {}),
        ("search-library", {"query": "a" * 201}),
        ("search-library", {"query": "a", "sort": "year"}),
        ("cite-item", {"projectId": PROJECT_ID, "key": "mueller2024cost"}),
        ("cite-item", {"projectId": PROJECT_ID, "key": "ABCD2345", "document": "a.typ"}),
        ("cite-item", {"projectId": PROJECT_ID, "key": "ABCD2345", "bibliography": "refs.txt"}),
        ("cite-item", {"projectId": PROJECT_ID, "key": "ABCD2345", "library": "1"}),
    ],
)
def test_arguments_out_of_bounds_never_reach_the_plugin(host: Host, tool: str, arguments: dict[str, Any]) -> None:
    outcome = call(host, tool, arguments)
    assert outcome.is_error
    assert outcome.text.startswith(f"The arguments of zotero__{tool} are not as declared: ")


def test_a_refusal_of_the_plugin_is_what_the_agent_reads(host: Host) -> None:
    outcome = call(host, "search-library", {"query": "a", "cursor": "made-up"})
    assert outcome.is_error
    assert outcome.text == "cursor is not one that this tool gave. Leave it out to start with the first page."


def test_a_path_out_of_the_project_is_refused_without_naming_it(host: Host, finished_library: SampleLibrary) -> None:
    key = finished_library.keys["cost-risk"][1]
    outcome = call(host, "cite-item", {"projectId": PROJECT_ID, "key": key, "bibliography": "../../x.bib"})
    assert outcome.is_error
    assert outcome.text == (
        "zotero may not do this: fs-project, out-of-scope. The user can see what was tried with: yaz denials zotero"
    )


def test_an_item_is_a_resource(host: Host, finished_library: SampleLibrary) -> None:
    library, key = finished_library.keys["group"]
    content = asyncio.run(host.gate.read_resource(OWNER, f"yaz://zotero/library/{library}/item/{key}"))
    item = json.loads(content.data)
    assert (item["title"], item["libraryName"], item["citationKey"]) == (
        "A paper of the group",
        "Lab Papers",
        "group2021",
    )
    assert item["address"] == f"zotero://select/groups/2468/items/{key}"
    assert content.cache.scope == "private"


def test_an_item_that_does_not_exist_is_no_resource(host: Host) -> None:
    uri = "yaz://zotero/library/user/item/AAAAAAAA"
    with pytest.raises(ProtocolFault) as refused:
        asyncio.run(host.gate.read_resource(OWNER, uri))
    assert refused.value.message == f"No such resource: {uri}"


def test_libraries_and_keys_are_completed(host: Host, finished_library: SampleLibrary) -> None:
    address = "yaz://zotero/library/{library}/item/{key}"
    assert asyncio.run(host.gate.complete(OWNER, address, "library", "g")) == ["group-2468"]
    key = finished_library.keys["cost-risk"][1]
    assert key in asyncio.run(host.gate.complete(OWNER, address, "key", key[:4]))


def test_the_status_is_for_people(host: Host) -> None:
    assert host.run_command("zotero", "status", []) == (
        "Zotero database, schema 129 (wal), last written 2026-01-05T10:00:00+00:00\n"
        "My Library (user): 41 items\n"
        "Lab Papers (group-2468): 2 items"
    )


def test_another_language_is_spoken_to_people_and_agents(tmp_path: Path, finished_library: SampleLibrary) -> None:
    host = Host(YAZ, home=Home(tmp_path / "yaz"), builtin=[PACKAGE], locale="de-AT", discover=False)
    host.grants.put(Grant(plugin="zotero", places={"zotero-data": str(finished_library.path.parent)}))
    host.activate()
    try:
        assert "My Library (user): 41 Titel" in str(host.run_command("zotero", "status", []))
        descriptions = {tool.exposed: tool.description for tool in host.gate.tools(OWNER)}
        assert descriptions["zotero__search-library"].startswith("Findet Titel in der Zotero-Bibliothek")
    finally:
        host.close()


def test_without_a_folder_the_agent_learns_what_the_user_must_do(tmp_path: Path) -> None:
    host = Host(YAZ, home=Home(tmp_path / "yaz"), builtin=[PACKAGE], discover=False)
    host.activate()
    try:
        outcome = call(host, "search-library", {"query": "a"})
        assert outcome.is_error
        assert outcome.text.endswith("grant it with: yaz grant zotero fs-read --place zotero-data=DIR")
    finally:
        host.close()
