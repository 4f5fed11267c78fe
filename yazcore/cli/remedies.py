"""What would allow what was refused: a sentence for `yaz denials`, by what the record of the refusal says. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

import attrs


@attrs.frozen(kw_only=True)
class Denied:
    """One refusal, as its record has it (`DenialLog.record`)."""

    plugin: str
    kind: str
    target: str
    reason: str
    where: str = ""
    detail: str = ""
    cause: str = ""

    @property
    def grant(self) -> str:
        """The command that grants the kind."""
        return f"yaz grant {self.plugin} {self.kind}"


def remedy(denied: Denied) -> str:
    """What would allow it: a command where one does, else what would have to be otherwise."""
    by_cause = BY_CAUSE.get(denied.cause)
    if by_cause is not None:
        return by_cause(denied)
    if denied.reason == "out-of-scope" and (denied.cause or denied.detail):
        return "nothing that yaz knows of; why it was refused is said above"
    return {
        "not-declared": f"only a new version of {denied.plugin}: its manifest does not ask for this",
        "not-granted": denied.grant,
        "out-of-scope": f"nothing here: it is beyond what {denied.plugin} asks for; a new version could ask for it",
        "service-unavailable": "nothing on this machine, as it is",
    }.get(denied.reason, "nothing")


def _posture(denied: Denied) -> str:
    if denied.where.startswith("tools "):
        return "nothing: a tool that only reads changes nothing; its author has to declare that it writes"
    return "nothing: only commands, and tools that say that they write, change anything; its author has to use one"


def _mark(denied: Denied) -> str:
    server, _, tool = denied.target.partition(" ")
    return f"yaz server mark {shlex.quote(server)} {shlex.quote(tool)} --read, if you know that it only reads"


def _folder(denied: Denied) -> str:
    """For what is the matter with a folder: what else a place can be bound to; without a place there is less to do."""
    if denied.kind == "fs-project":
        return _OF_PROJECTS[denied.cause]
    if denied.target.startswith(("/", "~")):
        return _OF_PATHS[denied.cause].format(plugin=denied.plugin)
    place = shlex.quote(denied.target.partition(":")[0])
    return f"{denied.grant} --place {place}=FOLDER{_OF_PLACES[denied.cause]}"


_OF_PROJECTS = {
    "folder-closed": "another project: no plugin is given this folder",
    "folder-gone": "the project's folder, back there",
}
_OF_PATHS = {
    "folder-closed": "nothing here: no plugin is given that folder; a new version of {plugin} could ask for another",
    "folder-gone": "that folder, there and open to you",
}
_OF_PLACES = {"place-unbound": "", "folder-closed": ", with another folder", "folder-gone": ", with one that is there"}


def _bound(denied: Denied) -> str:
    name, _, host = denied.target.rpartition(" to ")
    secret = shlex.quote(f"{denied.plugin}/{name}")
    return f"yaz secret set {secret} --host {shlex.quote(host)}, and --host for each other that it is for"


def _said(sentence: str) -> Callable[[Denied], str]:
    return lambda denied: sentence.format(**attrs.asdict(denied), grant=denied.grant, name=shlex.quote(denied.target))


BY_CAUSE: Mapping[str, Callable[[Denied], str]] = {
    "posture": _posture,
    "unmarked-tool": _mark,
    "malformed": _said("nothing: its author has to mend what it asks for"),
    "protected": _said("nothing: names that hold secrets, or that other programs act on, are given to no plugin"),
    "address": _said(
        "an address in the public internet for that name; else only a version of {plugin} that asks for private ones"
    ),
    "link": _said("the file itself in that folder, in place of the link"),
    "not-a-file": _said("an ordinary file in its place"),
    "no-project": _said("nothing here: only a call about a project has one; its author has to make it one"),
    "place-unbound": _folder,
    "folder-closed": _folder,
    "folder-gone": _folder,
    "program-absent": _said("a program {name} in /usr/local/bin, /usr/bin or /bin"),
    "program-missing": _said("a program {name} on this machine, and then: {grant}"),
    "program-changed": _said("{grant}, if you trust the program as it is now"),
    "program-unfit": _said("{grant} --command {name}=FILE, with a file that only you can change"),
    "secret-bound": _bound,
    "own-code": _said("nothing: its author has to use the service that is named above"),
}
"""By cause (`yazcore.kinds.causes`); what a cause says goes before what the reason says."""
