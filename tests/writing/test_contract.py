"""The contract of yaz, and what it costs to know it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import yazcore
from yazcore.writing.contract import FOLDER, SHIPPED, SHIPPED_IDS, YAZ


def test_it_is_contract_1_of_the_host_yaz_at_this_version() -> None:
    assert (YAZ.number, YAZ.group, YAZ.prefix, YAZ.host, YAZ.version) == (
        1,
        "yaz.manifest",
        "yaz-plugin-",
        "yaz",
        yazcore.__version__,
    )


@pytest.mark.parametrize("taken", ["yaz", "project", "result", *sorted(SHIPPED_IDS)])
def test_nobody_else_may_have_the_ids_of_the_host_and_of_what_ships(taken: str) -> None:
    assert taken in YAZ.reserved


def test_it_knows_projects_and_the_whole_installation() -> None:
    assert [kind.name for kind in YAZ.scope_kinds] == ["global", "project"]


def test_every_shipped_folder_has_a_manifest() -> None:
    assert all((folder / "manifest.json").is_file() for folder in (FOLDER, *SHIPPED))


def test_knowing_it_loads_nothing_that_a_listing_does_not_need() -> None:
    heavy = ("mcp", "pydantic", "keyring", "jsonschema", "fluent", "filelock", "rich", "asyncio", "msgspec")
    code = f"import sys, yazcore.writing.contract; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
