"""An attack as data, and what came of it."""

from __future__ import annotations

from typing import Literal

import attrs

Runtime = Literal["trusted", "isolated"]

OPEN = "OPEN"
"""The outcome of an attack that worked. It is expected where the documentation says so, and nowhere else."""

NO_WIRE = "no wire"
"""The outcome in the host's own process of an attack on the wire to a worker: there is none."""

OF_THE_MACHINE = frozenset({"EPERM", "EACCES", "ENOSYS", "EAFNOSUPPORT", "EINVAL", "ENOTSUP", "EPROTONOSUPPORT"})
"""How a system refuses what yaz does not."""


@attrs.frozen(kw_only=True)
class Attack:
    """One thing that a plugin tries.

    * `name`: the function in `evil/`; `family`: what it is after.
    * `proof`: how the outside can tell that it worked. `says`: what it said holds the secret; `did`: it said `done`;
      `world`: something outside its own folder is not as it was; `dies`: its host died, hung, or went on without end.
    * `trusted`, `isolated`: what is expected: `OPEN`, or the reason for which it did not work.
    * `spoils`: afterwards its process is of no use to others.
    * `needs`: what works only as root, or where the machine's own rules (a container's, a distribution's) allow it: so
      a refusal of the system's is as good as `OPEN` in the host's own process. A worker's answer is the same anywhere.
    """

    name: str
    family: str
    proof: Literal["says", "did", "world", "dies"]
    trusted: str
    isolated: str
    spoils: bool = False
    needs: bool = False

    def expected(self, runtime: Runtime) -> str:
        """What should come of it."""
        return self.trusted if runtime == "trusted" else self.isolated

    def fits(self, runtime: Runtime, outcome: str) -> bool:
        """Whether it came as it should."""
        if runtime == "trusted" and self.needs and outcome in OF_THE_MACHINE:
            return OPEN in self.trusted.split(" | ")
        return outcome in self.expected(runtime).split(" | ")
