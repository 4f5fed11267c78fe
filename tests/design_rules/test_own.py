"""What this project itself shows to agents: without a finding, and without a waiver."""

from __future__ import annotations

from pathlib import Path

import pytest

import yazcore
from yazcore.check import Report, check_target
from yazcore.design_rules.plugins import case_of
from yazcore.manifest.checking import check_reading
from yazcore.manifest.discovery import builtin
from yazcore.manifest.distribution_rules import WAIVERS_FILE
from yazcore.manifest.looking import beside, said_in
from yazcore.manifest.reading import read_found
from yazcore.writing.contract import SHIPPED, YAZ

PACKAGE = Path(yazcore.__file__).parent
CHECKOUT = PACKAGE.parent


def test_the_hosts_own_tools_are_clean() -> None:
    folder = PACKAGE / "writing"
    reading = read_found(builtin(folder), YAZ)
    assert check_reading(reading, folder) == ()
    case = case_of(reading, said_in(reading, folder), beside(folder), YAZ)
    assert case is not None
    assert case.view.surface.tools
    assert case.outcome().findings == ()
    assert not (folder / WAIVERS_FILE).exists()


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_what_ships_is_clean(folder: Path) -> None:
    assert check_target(folder, YAZ, shipped=SHIPPED) == Report()


def test_the_zotero_plugin_is_clean() -> None:
    report = check_target(CHECKOUT / "yaz_plugin_zotero", YAZ)
    assert (report.violations, report.differences, report.findings, report.waived) == ((), (), (), ())
