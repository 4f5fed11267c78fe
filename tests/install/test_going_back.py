"""What a version had before: put back as data, less what was denied since."""

from __future__ import annotations

import attrs

from yazcore.capabilities.grants import Earlier, Grant, earlier_of
from yazcore.install.going_back import before_of

OLD = Grant(
    plugin="p", version="1", runtime="trusted", capabilities=("a", "b"), places={"x": "/old", "y": "/y"},
    commands={"c": "old"}, digests={"tools/t": "1"}, seal="of 1", time="then",
)  # fmt: skip
NEW = Grant(
    plugin="p", version="2", runtime="isolated", capabilities=("a",), denied=("b",), places={"x": "/new"},
    digests={"tools/t": "2"}, seal="of 2", time="now",
)  # fmt: skip


def test_a_grant_for_another_version_keeps_what_the_one_before_said() -> None:
    assert earlier_of(OLD, "2") == Earlier(
        version="1", capabilities=("a", "b"), places={"x": "/old", "y": "/y"}, commands={"c": "old"},
        digests={"tools/t": "1"}, time="then",
    )  # fmt: skip
    assert earlier_of(attrs.evolve(OLD, earlier=Earlier(version="0")), "1") == Earlier(version="0")
    assert earlier_of(None, "1") is None
    assert earlier_of(Grant(plugin="p", denied=("b",)), "1") is None


def test_what_was_before_comes_back_less_what_was_denied_since() -> None:
    before = before_of(attrs.evolve(NEW, earlier=earlier_of(OLD, "2")))
    assert before == Grant(
        plugin="p", version="1", runtime="isolated", capabilities=("a",), denied=("b",),
        places={"x": "/new", "y": "/y"}, commands={"c": "old"}, digests={"tools/t": "1"}, time="then",
    )  # fmt: skip


def test_the_seal_of_another_versions_files_never_stands_beside_the_digests_of_this_one() -> None:
    before = before_of(attrs.evolve(NEW, earlier=earlier_of(OLD, "2")))
    assert before is not None
    assert before.seal == ""


def test_without_one_before_there_is_none() -> None:
    assert before_of(NEW) is None
