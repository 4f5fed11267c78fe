"""The schema of the index: made from its classes, published twice, and kept by what is built."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import yazcore.registry.document as document
from tests.manifest.archived import wheel
from tests.manifest.samples import CONTRACT, good
from yazcore.registry.building import build
from yazcore.registry.document import PUBLISHED, schema, written

CHECKOUT = Path(__file__).parents[2]


def built(folder: Path) -> dict[str, Any]:
    """An index with everything in it: two versions, a diff, something that is left out."""
    wheel(folder)
    capabilities = [{"kind": "process", "commands": ["git"]}]
    wheel(folder, version="0.2.0", manifest={**good(), "version": "0.2.0", "capabilities": capabilities})
    (folder / "bad.whl").write_bytes(b"x")
    return build(CONTRACT, folder).as_json()


@pytest.mark.parametrize("path", [Path(document.__file__).with_name(PUBLISHED), CHECKOUT / "docs" / PUBLISHED])
def test_the_published_schema_is_the_one_that_is_made(path: Path) -> None:
    assert path.read_text("utf-8") == written(schema()), "python -m yazcore.registry.document writes it"


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


def test_what_is_built_keeps_it(tmp_path: Path) -> None:
    assert list(Draft202012Validator(schema()).iter_errors(built(tmp_path))) == []


def test_every_key_has_to_be_there_and_no_other(tmp_path: Path) -> None:
    validator = Draft202012Validator(schema())
    whole = built(tmp_path)
    for path in ((), ("plugins", 0), ("plugins", 0, "versions", 0), ("plugins", 0, "versions", 0, "wheels", 0),
                 ("plugins", 0, "versions", 0, "asks", 0), ("plugins", 0, "diffs", 0),
                 ("plugins", 0, "diffs", 0, "changes", 0), ("leftOut", 0), ("leftOut", 0, "faults", 0)):  # fmt: skip
        for key in at(whole, path):
            without = copy.deepcopy(whole)
            del at(without, path)[key]
            assert not validator.is_valid(without), (path, key)
        more = copy.deepcopy(whole)
        at(more, path)["another"] = 1
        assert not validator.is_valid(more), path


def at(whole: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        whole = whole[part]
    return whole


def test_another_format_is_not_this_one(tmp_path: Path) -> None:
    assert not Draft202012Validator(schema()).is_valid({**built(tmp_path), "format": 2})


def test_what_is_written_is_json_again(tmp_path: Path) -> None:
    whole = built(tmp_path)
    assert json.loads(written(whole)) == whole
    assert written(whole).endswith("}\n")
