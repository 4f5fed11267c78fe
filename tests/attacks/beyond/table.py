"""The whole table: every attack, both runtimes, what came of it, and where that is not what should have."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from tests.attacks.beyond.attack import OPEN, Attack, Runtime
from tests.attacks.beyond.catalogue import ATTACKS, INSTALLS, PRECEDES, RESIDUE, STARTS
from tests.attacks.beyond.installing import judged, verdicts
from tests.attacks.beyond.starting import started
from tests.attacks.beyond.trying import outcomes

RUNTIMES: tuple[Runtime, ...] = ("trusted", "isolated")


@attrs.frozen(kw_only=True)
class Line:
    """One attack in one runtime: what should come of it, what came."""

    attack: Attack
    runtime: Runtime
    outcome: str

    @property
    def as_expected(self) -> bool:
        """Whether it came as it should."""
        return self.attack.fits(self.runtime, self.outcome)

    def __str__(self) -> str:
        expected = self.attack.expected(self.runtime)
        return f"{self.attack.name} in {self.runtime}: {self.outcome}, and should be: {expected}"


def tried(runtime: Runtime, names: Sequence[str] = ()) -> Iterator[Line]:
    """Try the attacks that run in a plugin, and those at its start; all where no name is given."""
    wanted = [one for one in ATTACKS if not names or one.name in names]
    by_name = {one.name: one for one in wanted}
    for found in outcomes(wanted, runtime) if wanted else ():
        yield Line(attack=by_name[found.name], runtime=runtime, outcome=found.outcome)
    starts = {one.name: one for one in STARTS if not names or one.name in names}
    for name, outcome in started(runtime) if starts else ():
        if name in starts:
            yield Line(attack=starts[name], runtime=runtime, outcome=outcome)


def installed(names: Sequence[str] = ()) -> Iterator[Line]:
    """Try what a wheel can do before any runtime has a say: once, for both."""
    wanted = [one for one in INSTALLS if not names or one.name in names]
    found = dict(verdicts()) if wanted else {}
    for one in wanted:
        for runtime in RUNTIMES:
            yield Line(attack=one, runtime=runtime, outcome=judged(one, found))


def print_table(names: Sequence[str] = ()) -> int:
    """Try, print, and give the exit status."""
    with tempfile.TemporaryDirectory(prefix="yaz-home-") as home:
        os.environ.update(HOME=home, YAZ_HOME=str(Path(home) / "yaz"))
        lines = [line for runtime in RUNTIMES for line in tried(runtime, names)]
        lines += installed(names)
    by_attack: dict[str, dict[Runtime, Line]] = {}
    for line in lines:
        by_attack.setdefault(line.attack.name, {})[line.runtime] = line
    family = ""
    for name, both in by_attack.items():
        attack = next(iter(both.values())).attack
        if attack.family != family:
            family = attack.family
            print(f"\n{family}\n  {'':<46} {'trusted':<34} isolated")  # noqa: T201
        cells = [_cell(both[runtime]) if runtime in both else "" for runtime in RUNTIMES]
        print(f"  {name:<46} {cells[0]:<34} {cells[1]}")  # noqa: T201
    wrong = [line for line in lines if not line.as_expected]
    open_ones = [line for line in lines if line.runtime == "isolated" and line.outcome == OPEN]
    print(f"\n{len(by_attack)} attacks; {len(open_ones)} of them work in a worker, or before one:")  # noqa: T201
    for line in open_ones:
        why = {**RESIDUE, **PRECEDES}.get(line.attack.name, "not documented")
        print(f"  {line.attack.name}: {why}")  # noqa: T201
    for line in wrong:
        print(f"NOT AS EXPECTED: {line}")  # noqa: T201
    return 1 if wrong else 0


def _cell(line: Line) -> str:
    return line.outcome if line.as_expected else f"!! {line.outcome}"
