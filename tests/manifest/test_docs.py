"""The page of the manifest against its schema: every key, with its default, its words and its bounds."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest
from jsonschema import Draft202012Validator

from tests.manifest.mistakes import MISTAKES
from tests.manifest.test_mistakes import ELSEWHERE
from tests.manifest.test_schema_and_reading import JUDGED, REFERRED, WRITTEN
from yazcore.manifest.reading import read
from yazcore.manifest.schema import schema
from yazcore.writing.contract import YAZ

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "manifest.md").read_text("utf-8")
CODES = frozenset(re.findall(r"^\| `([a-z0-9-]+)` \|", (DOCS / "codes.md").read_text("utf-8"), re.MULTILINE))

SECTIONS = {
    "The whole": "",
    "What it adds": "provides",
    "Permissions": "PermissionDeclaration",
    "`fs-project`": "FsProject",
    "`fs-read`": "FsRead",
    "`fs-write`": "FsWrite",
    "`net`": "Net",
    "`process`": "Process",
    "`mcp-client`": "McpClient",
    "`credential`": "Credential",
    "Commands": "CommandDeclaration",
    "Formats": "FormatDeclaration",
    "Tools": "ToolDeclaration",
    "Notes on parameters": "Param",
    "Effect": "Effect",
    "Resources": "ResourceDeclaration",
    "Variables": "Variable",
    "Cache": "Cache",
    "Prompts": "PromptDeclaration",
    "Arguments": "PromptArgument",
    "Settings": "SettingDeclaration",
    "Updates": "Updates",
}
"""By heading, the part of the schema that a table of the page is about; of capabilities, beside what all have."""

OF_EVERY_CAPABILITY = "Capabilities"


@attrs.frozen
class Row:
    """One key on the page."""

    key: str
    value: str
    default: str
    meaning: str
    codes: str


@cache
def tables() -> dict[str, dict[str, Row]]:
    """By heading, the rows of the table below it."""
    found: dict[str, dict[str, Row]] = {}
    heading = ""
    for line in PAGE.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("| `"):
            row = Row(*(cell.strip() for cell in line.strip("|").split("|")))
            rows = found.setdefault(heading, {})
            assert row.key.strip("`") not in rows, line
            rows[row.key.strip("`")] = row
    return found


@cache
def parts() -> dict[str, dict[str, Any]]:
    whole = schema(YAZ)
    return {"": whole, "provides": whole["properties"]["provides"], **whole["$defs"]}


def test_every_part_of_the_schema_has_a_table() -> None:
    assert set(SECTIONS.values()) == set(parts())
    assert set(tables()) == {*SECTIONS, OF_EVERY_CAPABILITY}


@pytest.mark.parametrize("heading", SECTIONS)
def test_every_key_of_the_schema_stands_on_the_page_and_no_other(heading: str) -> None:
    rows = dict(tables()[heading])
    if "kind" in parts()[SECTIONS[heading]]["properties"]:
        rows |= tables()[OF_EVERY_CAPABILITY]
    assert set(rows) == set(parts()[SECTIONS[heading]]["properties"])


def keys() -> list[tuple[str, str]]:
    return [(heading, key) for heading in SECTIONS for key in tables()[heading]]


@pytest.mark.parametrize(("heading", "key"), keys())
def test_a_key_has_its_default_its_words_and_its_bounds(heading: str, key: str) -> None:
    part = parts()[SECTIONS[heading]]
    row, value = tables()[heading][key], part["properties"][key]
    if row.default in ("required", "optional"):
        assert (key in part.get("required", ())) is (row.default == "required")
        assert "default" not in value
    else:
        assert json.loads(row.default.strip("`")) == value["default"]
    entry = value.get("items", {}) if isinstance(value.get("items"), dict) else {}
    for word in (*value.get("enum", ()), value.get("const"), *entry.get("not", {}).get("enum", ())):
        assert word is None or f"`{word}`" in row.value
    for keywords in (value, entry):
        for bound in ("maxLength", "minimum", "maximum", "minItems"):
            if bound in keywords:
                assert re.search(rf"\b{keywords[bound]}\b", row.value), bound


def test_what_every_capability_has_is_said_once() -> None:
    kinds = [part for part in parts().values() if "kind" in part["properties"]]
    common = set.intersection(*(set(part["properties"]) for part in kinds))
    assert set(tables()[OF_EVERY_CAPABILITY]) == common
    named = re.findall(r"`([a-z-]+)`", tables()[OF_EVERY_CAPABILITY]["kind"].value)
    assert named == [kind.kind for kind in YAZ.capability_kinds]


def test_every_code_of_reading_stands_on_the_page_and_is_explained() -> None:
    named = set(re.findall(r"`([a-z]+(?:-[a-z0-9]+)+)`", PAGE))
    of_reading = {mistake.code for mistake in MISTAKES} | set(ELSEWHERE)
    assert of_reading - named == set()
    rows = [row for rows in tables().values() for row in rows.values()]
    assert {code for row in rows for code in re.findall("`([a-z-]+)`", row.codes)} - CODES == set()


def test_what_only_reading_sees_is_listed() -> None:
    section = PAGE.partition("## What only reading sees")[2].partition("\n## ")[0]
    assert set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", section)) == {one.code for one in (*REFERRED, *JUDGED)}
    written = " ".join(section.partition("* **How the file is written**:")[2].partition("\n* ")[0].split())
    said = {
        "duplicate keys": "duplicate keys", "1.0": "`1.0`", "NaN": "NaN",
        "integers over 64 bits": "integers over 64 bits", "size": "its size", "depth": "and depth",
        "lone surrogates": "halves of surrogate pairs",
        "a byte order mark": "a byte order mark", "another encoding": "another encoding",
        "a line break at the end": "a line break at the very end of a name",
    }  # fmt: skip
    assert set(said) == {one.what for one in WRITTEN}
    assert [what for what, words in said.items() if words not in written] == []


def test_the_example_breaks_no_rule() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert read(example.encode(), YAZ).violations == ()
    assert Draft202012Validator(schema(YAZ)).is_valid(json.loads(example))


def test_links_inside_the_page_lead_to_headings() -> None:
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in PAGE.splitlines()
        if line.startswith("#")
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) - headings == set()
