"""The JSON Schema of a manifest as such: published, closed, portable, and made for every host alike."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest
from jsonschema import Draft202012Validator

from tests.hosts.console import CONTRACT as CONSOLE
from tests.manifest.samples import CONTRACT, GOOD, good
from yazcore.contract import Contract
from yazcore.contributions import CONTRIBUTION_KINDS, ContributionKind
from yazcore.kinds import Capability
from yazcore.manifest import schema as room
from yazcore.manifest.schema import PUBLISHED, schema, written
from yazcore.writing.contract import YAZ

ROOT = Path(__file__).parents[2]
ADVICE = "write it anew: python -m yazcore.manifest.schema"


@pytest.mark.parametrize("folder", [Path(room.__file__).parent, ROOT / "docs"], ids=["package", "docs"])
def test_the_published_schema_is_the_one_that_is_made(folder: Path) -> None:
    assert (folder / PUBLISHED).read_text("utf-8") == written(schema(YAZ)), ADVICE


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "yazcore.manifest.schema", *arguments],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip


def test_the_command_prints_it() -> None:
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, written(schema(YAZ)), "")


def test_the_command_prints_that_of_another_host() -> None:
    assert json.loads(run("tests.hosts.console:CONTRACT").stdout) == schema(CONSOLE)


@pytest.mark.parametrize("name", ["nowhere:YAZ", "yazcore.writing.contract:NONE", "yazcore.writing.contract", ":"])
def test_the_command_says_what_it_wants(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        room.main([name])
    assert ended.value.code == (
        f"there is no contract {name}: name one as MODULE:CONTRACT, as in yazcore.writing.contract:YAZ"
    )
    assert capsys.readouterr().out == ""


def test_msgspec_is_loaded_when_a_schema_is_made() -> None:
    code = "import sys, yazcore.manifest.schema; sys.exit('msgspec' in sys.modules or 'jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("contract", [YAZ, CONTRACT, CONSOLE], ids=lambda one: one.host)
def test_a_schema_is_one_of_its_dialect(contract: Contract) -> None:
    found = schema(contract)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(found)


def parts(value: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(place, object) for everything in a schema that is an object."""
    if isinstance(value, Mapping):
        yield path, value
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from parts(one, f"{path}/{key}")


def declared(found: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """By name, the schemas of the objects that a manifest is made of."""
    return {"": found, "provides": found["properties"]["provides"], **found["$defs"]}


def test_every_object_is_closed_and_camel_case_and_every_list_has_an_end() -> None:
    for name, one in declared(schema(YAZ)).items():
        assert one["additionalProperties"] is False, name
        assert all(re.fullmatch(r"\$?[a-z]+([A-Z][a-z]+)*", key) for key in one["properties"]), name
    lists = [one for _, one in parts(schema(YAZ)) if one.get("type") == "array" and "items" in one]
    assert {one["maxItems"] for one in lists} == {500}


def test_null_is_nowhere_a_value() -> None:
    assert "null" not in written(schema(YAZ))


def test_every_key_is_explained() -> None:
    for name, one in declared(schema(YAZ)).items():
        assert one["description"], name
        assert [key for key, value in one["properties"].items() if not value.get("description")] == [], name


def test_patterns_are_of_the_kind_that_all_validators_know() -> None:
    patterns = {one["pattern"] for _, one in parts(schema(YAZ)) if isinstance(one.get("pattern"), str)}
    assert patterns
    for pattern in patterns:
        re.compile(pattern)
        assert not re.search(r"\(\?[^:]|\\[1-9pPkAZzbB]", pattern), pattern


def test_everything_that_is_defined_is_used() -> None:
    used = set(re.findall(r'"#/\$defs/(\w+)"', written(schema(YAZ))))
    assert used == set(schema(YAZ)["$defs"])


def test_a_schema_may_be_named_in_a_manifest() -> None:
    validator = Draft202012Validator(schema(CONTRACT))
    assert validator.is_valid({**GOOD, "$schema": "manifest.schema.json"})
    assert not validator.is_valid({**GOOD, "$schema": 1})


@attrs.frozen(kw_only=True)
class Panels(Capability):
    """Panels beside the map."""

    kind: ClassVar[str] = "panel"
    service: ClassVar[str] = "panels"
    schema_keywords: ClassVar[Mapping[str, Mapping[str, Any]]] = {"": {"minProperties": 3}, "side": {"enum": ["left"]}}
    side: str
    most_open: int = 1


@attrs.frozen(kw_only=True)
class Mark:
    """A mark on the map."""

    at: tuple[float, ...] = ()
    note: str | None = None


@attrs.frozen(kw_only=True)
class LayerDeclaration:
    """A layer of the map."""

    id: str
    description_key: str
    permission: str
    scope: str
    marks: tuple[Mark, ...] = ()


LAYERS = ContributionKind(
    key="layers", hook="provide_layers", declaration=LayerDeclaration, registration=LayerDeclaration,
    declared_name=lambda declared: str(declared.id), registered_name=lambda registered: str(registered.id),
)  # fmt: skip
MAP = attrs.evolve(CONTRACT, number=4, capability_kinds=(Panels,), contribution_kinds=(*CONTRIBUTION_KINDS, LAYERS))


def test_a_hosts_own_kinds_stand_in_its_schema() -> None:
    found = schema(MAP)
    assert found["properties"]["contract"]["const"] == 4
    assert found["properties"]["capabilities"]["items"] == {"oneOf": [{"$ref": "#/$defs/Panels"}]}
    panels = found["$defs"]["Panels"]
    assert panels["properties"]["kind"] == {"const": "panel", "description": "What it asks for."}
    assert panels["properties"]["side"] == {"type": "string", "enum": ["left"]}
    assert panels["properties"]["mostOpen"] == {"type": "integer", "default": 1}
    assert (panels["required"], panels["minProperties"]) == (["kind", "side"], 3)
    layer = found["$defs"]["LayerDeclaration"]
    assert layer["description"] == "A layer of the map."
    assert layer["properties"]["id"]["maxLength"] == 48
    assert layer["properties"]["scope"] == {"type": "string", "enum": ["global", "project"]}
    assert layer["properties"]["marks"]["items"] == {"$ref": "#/$defs/Mark"}
    assert found["$defs"]["Mark"]["properties"]["at"]["items"] == {"type": "number"}
    assert found["$defs"]["Mark"]["properties"]["note"] == {"type": "string"}


def test_a_manifest_of_another_host_is_held_against_its_own_schema() -> None:
    document = good()
    document["contract"] = 4
    document["capabilities"] = [{"kind": "panel", "side": "left", "mostOpen": 2}]
    layer = {"id": "roads", "descriptionKey": "layer", "permission": "zotero:read", "scope": "global"}
    document["provides"]["layers"] = [layer | {"marks": [{"at": [1, 2.5]}]}]
    validator = Draft202012Validator(schema(MAP))
    assert [error.message for error in validator.iter_errors(document)] == []
    document["provides"]["layers"][0]["permission"] = "read"
    assert not validator.is_valid(document)


def test_a_host_without_capabilities_accepts_none() -> None:
    validator = Draft202012Validator(schema(attrs.evolve(CONTRACT, capability_kinds=())))
    assert validator.is_valid({**GOOD, "capabilities": []})
    assert not validator.is_valid(GOOD)
