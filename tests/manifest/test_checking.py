from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.manifest.samples import CONTRACT, GOOD, codes, good, manifest_of, reading
from yazcore.manifest.checking import check, check_found, check_reading
from yazcore.manifest.discovery import builtin

KEYS = dict.fromkeys(key for key, _ in manifest_of(GOOD).message_keys())


def package(folder: Path, document: dict[str, Any], text: str | None = None) -> Path:
    (folder / "locales").mkdir()
    (folder / "locales" / "en-US.ftl").write_text(text if text is not None else "".join(f"{key} = x\n" for key in KEYS))
    (folder / "manifest.json").write_text(json.dumps(document, indent=1))
    return folder


def test_a_good_plugin_has_no_violations(tmp_path: Path) -> None:
    folder = package(tmp_path, GOOD)
    assert check(manifest_of(GOOD), folder, CONTRACT) == ()
    assert check_found(builtin(folder), CONTRACT) == ()


def test_texts_and_schemas_are_checked_where_reading_does_not_look(tmp_path: Path) -> None:
    document = good()
    document["provides"]["tools"][0]["inputSchema"]["properties"]["query"]["type"] = "text"
    document["provides"]["tools"][0]["outputSchema"]["$ref"] = "https://example.org/schema.json"
    manifest = manifest_of(document)
    found = check(manifest, package(tmp_path, document, "tool-search = x\n"), CONTRACT)
    assert codes(found)[:2] == [
        ("schema-invalid", "/provides/tools/0/inputSchema/properties/query/type"),
        ("schema-ref", "/provides/tools/0/outputSchema/$ref"),
    ]
    assert {one.code for one in found[2:]} == {"message-missing"}


def test_everything_comes_in_document_order_with_its_place(tmp_path: Path) -> None:
    document = good()
    document["provides"]["tools"][1]["inputSchema"]["properties"]["key"]["minLength"] = -1
    text = "".join(f"{key} = x\n" for key in KEYS if key not in ("why-web", "prompt-review"))
    found = check_found(builtin(package(tmp_path, document, text)), CONTRACT)
    assert codes(found) == [
        ("message-missing", "/capabilities/1/reasonKey"),
        ("schema-invalid", "/provides/tools/1/inputSchema/properties/key/minLength"),
        ("message-missing", "/provides/prompts/0/descriptionKey"),
    ]
    lines = (tmp_path / "manifest.json").read_text().splitlines()
    assert [lines[(one.line or 0) - 1][(one.column or 0) - 1 :].rstrip(",") for one in found] == [
        '"why-web"', "-1", '"prompt-review"',
    ]  # fmt: skip


def test_what_cannot_be_read_is_not_checked_further(tmp_path: Path) -> None:
    found = reading({**GOOD, "contract": 9})
    assert check_reading(found, tmp_path) == found.violations
