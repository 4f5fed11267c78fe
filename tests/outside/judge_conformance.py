"""The official conformance suite: as good as the server of the SDK itself, behind the token."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.outside.conftest import Judged, run

TOKEN = Path(__file__).with_name("token.mjs")
TOTAL = re.compile(r"^Total: (\d+) passed, (\d+) failed", re.MULTILINE)
SCENARIO = re.compile(r"^(\S) (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)


def judgement(node: str, program: Path, judged: Judged, *options: str, token: bool = True) -> tuple[str, int, int]:
    """All that the suite says, and how many of its checks passed and failed."""
    origin = judged.url.removesuffix("/mcp")
    preload = ("--import", str(TOKEN)) if token else ()
    done = run(
        node, *preload, program / "dist" / "index.js", "server", "--url", judged.url, "--suite", "all", *options,
        JUDGED_ORIGIN=origin, JUDGED_TOKEN=judged.token,
    )  # fmt: skip
    said = done.stdout + done.stderr
    total = TOTAL.search(said)
    assert total is not None, said[-4000:]
    return said, int(total[1]), int(total[2])


@pytest.mark.parametrize(
    ("suite", "options", "checks"),
    [
        ("conformance", (), 44),
        ("conformance-next", ("--spec-version", "2025-11-25"), 84),
        ("conformance-next", ("--spec-version", "2026-07-28"), 152),
    ],
)
def test_every_check_of_a_revision_passes(
    node: str, packages: Path, judged: Judged, suite: str, options: tuple[str, ...], checks: int
) -> None:
    said, passed, failed = judgement(node, packages / suite, judged, *options)
    wrong = [one[0] for one in SCENARIO.finditer(said) if one[4] != "0"]
    assert (passed, failed, wrong) == (checks, 0, [])


def test_without_the_token_nothing_is_answered(node: str, packages: Path, judged: Judged) -> None:
    said, _, failed = judgement(node, packages / "conformance", judged, token=False)
    # A request of another site is refused, as it should be; no scenario gets an answer.
    passing = [one[2] for one in SCENARIO.finditer(said) if one[3] != "0"]
    assert (passing, failed) == (["dns-rebinding-protection"], 32)
