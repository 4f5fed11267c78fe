"""Folders of a user from which programs are started, whoever put them there; no plugin may write in one. Pure.

Which program folders this very process has (what Python imports from, what its PATH names) is no matter of a manifest;
`yazcore.capabilities.program_folders` knows them.
"""

from __future__ import annotations

RUN_FROM = "programs are run from it"

HOME_PROGRAMS = (
    ("bin",), (".local", "bin"), (".local", "lib"), (".config", "autostart"), (".config", "systemd"),
    ("Library", "LaunchAgents"),
)  # fmt: skip
"""Such folders below a home folder: commands, what Python imports, what a session starts by itself."""

Parts = tuple[str, ...]


def overlap(one: Parts, other: Parts) -> bool:
    """Whether one folder is the other, holds it or lies in it."""
    return one[: len(other)] == other or other[: len(one)] == one


def runs_home_programs(below_home: Parts) -> bool:
    """Whether a folder below a home folder is one of `HOME_PROGRAMS`, holds one or lies in one."""
    return any(overlap(below_home, one) for one in HOME_PROGRAMS)
