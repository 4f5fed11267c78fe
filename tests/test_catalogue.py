from __future__ import annotations

from typing import Any

import attrs
import pytest

from yazcore.catalogue import ActivePlugin, Catalogue, collisions
from yazcore.declarations import (
    CommandDeclaration,
    FormatDeclaration,
    PermissionDeclaration,
    PromptDeclaration,
    ResourceDeclaration,
    ToolDeclaration,
)
from yazcore.manifest.model import Manifest, Provides
from yazcore.manifest.names import exposed, folded


def plugin(
    plugin_id: str,
    *tools: str,
    own: bool = False,
    origin: str = "builtin",
    resources: tuple[ResourceDeclaration, ...] = (),
    **more: tuple[Any, ...],
) -> ActivePlugin:
    declared: dict[str, tuple[Any, ...]] = {
        "tools": tuple(
            ToolDeclaration(
                name=name,
                description_key="k",
                posture="read",
                scope="global",
                permission=f"{plugin_id}:read",
                input_schema={},
            )
            for name in tools
        ),
        "resources": resources,
        **more,
    }
    manifest = Manifest(
        contract=1,
        id=plugin_id,
        name=plugin_id,
        version="1",
        min_app_version="1",
        author="A",
        description="D",
        module="m:M",
        permissions=(PermissionDeclaration(action=f"{plugin_id}:read", description_key="k"),),
        provides=Provides(declared),
    )
    return ActivePlugin(manifest=manifest, texts={"k": f"text of {plugin_id}"}, own=own, origin=origin, running=None)


def resource(address: str, template: bool = False) -> ResourceDeclaration:
    return ResourceDeclaration(
        uri=None if template else address,
        uri_template=address if template else None,
        name_key="k",
        description_key="k",
        scope="global",
        permission="p:read",
    )


def test_names_carry_the_plugins_id_and_the_hosts_own_do_not() -> None:
    assert exposed("zotero", "search-library", own=False) == "zotero__search-library"
    assert exposed("yaz", "open_project", own=True) == "open_project"


def test_plugins_that_give_themselves_one_name_stay_apart() -> None:
    catalogue = Catalogue()
    for plugin_id in ("a", "b"):
        one = plugin(plugin_id, "search")
        catalogue.add(attrs.evolve(one, manifest=attrs.evolve(one.manifest, name="Search")))
    found = catalogue.now.tools
    assert {name: tool.plugin for name, tool in found.items()} == {"a__search": "a", "b__search": "b"}


def test_a_commit_is_seen_whole_and_sorted_and_grows_the_generation() -> None:
    catalogue = Catalogue()
    before = catalogue.now
    catalogue.add(plugin("b", "z", "a"))
    catalogue.add(plugin("a", "m"))
    assert list(catalogue.now.tools) == ["a__m", "b__a", "b__z"]
    assert catalogue.now.tools["a__m"].description == "text of a"
    assert catalogue.now.actions == {"a:read", "b:read"}
    assert (before.generation, catalogue.now.generation) == (0, 2)
    assert before.tools == {}


def test_removing_leaves_no_trace_and_a_stranger_changes_nothing() -> None:
    catalogue = Catalogue()
    catalogue.add(plugin("a", "m"))
    assert catalogue.remove("nobody") is None
    assert catalogue.now.generation == 1
    catalogue.remove("a")
    assert (catalogue.now.tools, catalogue.now.actions) == ({}, frozenset())


def test_names_that_differ_only_in_case_and_dashes_are_one_name() -> None:
    assert folded("Read-File") == folded("read_file")
    catalogue = Catalogue()
    catalogue.add(plugin("yaz", "open_project", own=True))
    assert collisions(catalogue.now, plugin("x", "open-project", own=True).manifest, own=True) == [
        ("tools", "open-project", "yaz")
    ]
    assert collisions(catalogue.now, plugin("x", "open_project").manifest, own=False) == []


def test_one_address_belongs_to_one_plugin() -> None:
    catalogue = Catalogue()
    catalogue.add(plugin("a", resources=(resource("cmdb://x"),)))
    assert collisions(catalogue.now, plugin("b", resources=(resource("cmdb://x"),)).manifest, own=False) == [
        ("resources", "cmdb://x", "a")
    ]


def test_a_fixed_uri_goes_before_a_template() -> None:
    catalogue = Catalogue()
    catalogue.add(plugin("a", resources=(resource("yaz://a/{name}", template=True), resource("yaz://a/all"))))
    fixed = catalogue.now.resource_for("yaz://a/all")
    other = catalogue.now.resource_for("yaz://a/one")
    assert fixed is not None
    assert fixed[0].declaration.uri == "yaz://a/all"
    assert other is not None
    assert other[1] == {"name": "one"}
    assert catalogue.now.resource_for("yaz://a/{name}") is None


def test_every_commit_is_told_once_it_can_be_seen() -> None:
    catalogue, seen = Catalogue(), []
    forget = catalogue.on_change(lambda: seen.append(sorted(catalogue.now.plugins)))
    first = plugin("a")
    catalogue.add(first)
    catalogue.add(plugin("b"))
    assert catalogue.remove("nobody") is None
    assert catalogue.remove("a") is first
    assert seen == [["a"], ["a", "b"], ["b"]]
    forget()
    forget()
    catalogue.remove("b")
    assert len(seen) == 3


def test_prompts_commands_and_formats_are_listed_with_their_texts() -> None:
    catalogue = Catalogue()
    prompt = PromptDeclaration(name="review", description_key="k", scope="global", permission="a:read")
    commands = (CommandDeclaration(id="z", name_key="k"), CommandDeclaration(id="b", name_key="none"))
    form = FormatDeclaration(id="bib", name_key="k", extensions=(".bib",))
    catalogue.add(plugin("a", prompts=(prompt,), commands=commands, formats=(form,)))
    now = catalogue.now
    assert [(name, one.description, one.plugin) for name, one in now.prompts.items()] == [
        ("a__review", "text of a", "a")
    ]
    assert [(key, one.name) for key, one in now.commands.items()] == [
        (("a", "b"), "<none>"), (("a", "z"), "text of a")
    ]  # fmt: skip
    assert (now.formats["bib"].plugin, now.formats["bib"].name) == ("a", "text of a")


def test_one_format_id_and_one_extension_belong_to_one_plugin() -> None:
    catalogue = Catalogue()
    catalogue.add(plugin("a", formats=(FormatDeclaration(id="bib", name_key="k", extensions=(".bib", ".bst")),)))
    same_id = FormatDeclaration(id="bib", name_key="k", extensions=(".other",))
    same_extension = FormatDeclaration(id="biblatex", name_key="k", extensions=(".BST", ".other"))
    neither = FormatDeclaration(id="tex", name_key="k", extensions=(".tex",))
    assert [
        collisions(catalogue.now, plugin("b", formats=(one,)).manifest, own=False)
        for one in (same_id, same_extension, neither)
    ] == [[("formats", "bib", "a")], [("formats", ".bst", "a")], []]


def test_what_is_active_never_changes_under_a_reader() -> None:
    catalogue = Catalogue()
    catalogue.add(plugin("a", "x"))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        catalogue.now.tools = {}  # type: ignore[misc]
