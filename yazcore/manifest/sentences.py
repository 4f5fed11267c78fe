"""What a capability lets a plugin do, as a sentence in the user's language, from its targets alone.

In English it is `Capability.sentence`, word for word. A capability kind of the host application's own has only that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from yazcore.kinds import CAPABILITY_KINDS, Capability, Credential, FsProject, FsRead, FsWrite, McpClient, Net, Process
from yazcore.kinds.net import READ_METHODS
from yazcore.manifest.messages import LONGEST_ARGUMENT
from yazcore.manifest.words import escaped

Say = Callable[..., str]
"""Gives the host's text for a key and named arguments, as `Messages.text` does."""


def capability_sentence(capability: Capability, say: Say) -> str:
    """What people read of a capability, escaped. Every target is in it, however many there are."""
    parts = list(_parts(capability)) if type(capability) in CAPABILITY_KINDS else []
    longest = max((len(value) for _, given in parts for value in given.values() if isinstance(value, str)), default=0)
    if not parts or longest > LONGEST_ARGUMENT:  # an argument would be cut, and nothing may be hidden here
        return escaped(capability.sentence())
    return ", ".join(say(key, **given) for key, given in parts)


def _parts(capability: Capability) -> Iterator[tuple[str, dict[str, str | int]]]:
    """The message keys of its sentence, each with its arguments."""
    key = f"capability-{capability.kind}"
    targets = capability.targets()
    match capability:
        case FsProject(paths=None):
            yield key, {"access": capability.access}
        case FsProject():
            yield f"{key}-paths", {"access": capability.access, "paths": _joined(targets["paths"])}
        case FsRead(place=None) | FsWrite(place=None):
            yield key, {"path": targets["path"]}
        case FsRead() | FsWrite():
            place = {"place": targets["place"]}
            if capability.suggest:
                yield f"{key}-suggested", {**place, "suggest": _joined(capability.suggest)}
            else:
                yield f"{key}-place", place
        case Net():
            yield key, {"hosts": _joined(targets["hosts"])}
            if targets["ports"] != [443]:
                yield f"{key}-ports", {"ports": _joined(targets["ports"])}
            if capability.private:
                yield f"{key}-private", {}
            if methods := [one for one in targets["readMethods"] if one not in READ_METHODS]:
                yield f"{key}-methods", {"methods": _joined(methods)}
        case Process():
            yield key, {"commands": _joined(targets["commands"])}
        case McpClient():
            yield key, {"servers": _joined(targets["servers"]), "count": len(targets["servers"])}
            if "tools" in targets:
                yield f"{key}-tools", {"tools": _joined(targets["tools"])}
        case Credential():
            yield key, {"names": _joined(targets["names"])}


def _joined(words: Sequence[Any]) -> str:
    return ", ".join(map(str, words))
