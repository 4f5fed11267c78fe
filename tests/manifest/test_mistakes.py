"""Each rule of reading on a text of its own: the code, the pointer, and line and column, exactly."""

from __future__ import annotations

import pytest

from tests.manifest.codes_in_source import given
from tests.manifest.mistakes import MISTAKES, TEXT, Mistake
from tests.manifest.samples import CONTRACT, only
from yazcore.manifest.reading import read

ROOMS = (
    "yazcore/kinds/",
    *(
        f"yazcore/manifest/{room}.py"
        for room in (
            "json_text", "structure", "records", "places", "rules", "contribution_rules", "note_rules", "address_rules"
        )
    ),
)  # fmt: skip

ELSEWHERE = {
    "json-bom": "no mark can stand in it: test_json_text",
    "json-not-utf8": "no mark can stand in it: test_json_text",
    "json-too-large": "it has no place: test_json_text",
    "manifest-too-many-faults": "it is about a hundred others: test_reading",
    "manifest-wrong-value": "only a host's own classes give it: test_structure",
    "host-version-unknown": "it is about the host: test_rules",
    "id-reserved": "its permissions and addresses would be another's too: test_rules",
    "module-elsewhere": "it is about where the manifest lies: test_reading",
    "id-differs": "it is about a distribution: test_reading",
    "version-differs": "it is about a distribution: test_reading",
}
"""The codes of reading that no change of this one text can give, and where they are tested."""


def test_the_text_without_a_mistake_breaks_no_rule() -> None:
    assert read(TEXT.encode(), CONTRACT).violations == ()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.name[:60])
def test_a_mistake_is_one_violation_at_its_place(mistake: Mistake) -> None:
    found = only(read(mistake.text().encode(), CONTRACT).violations)
    assert (found.code, found.pointer, (found.line, found.column)) == (mistake.code, mistake.pointer, mistake.place())
    assert found.severity == "error"
    assert found.fix


def test_every_code_of_reading_has_a_mistake() -> None:
    codes = {one.code for one in given() if one.where.startswith(ROOMS) and one.code is not None}
    written_out = codes | {"json-too-deep", "capability-server", "capability-tool"}
    written_out |= {f"{kind}-permission-undeclared" for kind in ("tool", "resource", "prompt")}
    assert {mistake.code for mistake in MISTAKES} | set(ELSEWHERE) == written_out
    assert {mistake.code for mistake in MISTAKES} & set(ELSEWHERE) == set()
