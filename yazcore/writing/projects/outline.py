"""The outline of a project: its headings in order, each with its document and line, read from source (projects 6)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import attrs

from yazcore import CapabilityError, ServiceError, YazError
from yazcore.writing.projects.documents import Files, revision_of, text_of
from yazcore.writing.projects.formats import Formats, RawNode
from yazcore.writing.projects.project import Project
from yazcore.writing.projects.tree import walk

MOST_NODES = 5_000
"""The most nodes of an outline; what is more is left out, and the outline says so."""

MOST_SOURCE = 2_000_000
"""The most bytes of source that a format is given at once (a message to a plugin holds at most 2 MiB)."""

_LONGEST_TITLE = 300
_LONGEST_LABEL = 120


@attrs.frozen(kw_only=True)
class Node:
    """One heading. `level` counts from 1, `line` from 1; `id` is the label, or stays while title and place in the
    hierarchy stay, so that lines added above do not change it."""

    id: str
    title: str
    level: int
    kind: str
    file: str
    line: int
    label: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The node as plain data; a label that is not there is left out."""
        return {name: value for name, value in attrs.asdict(self).items() if value is not None}


@attrs.frozen
class Unread:
    """A document that the outline could not take into account, and why, as a sentence."""

    file: str
    reason: str


@attrs.frozen(kw_only=True)
class Outline:
    """The outline of a project. `revision` is of the sources it was read from; `complete` is false where nodes or
    documents were left out."""

    nodes: tuple[Node, ...]
    unread: tuple[Unread, ...]
    revision: str
    complete: bool


@attrs.frozen
class Sources:
    """The text of a project's documents of one format, and what could not be read."""

    texts: dict[str, str]
    unread: tuple[Unread, ...]
    revision: str


def outline(project: Project, formats: Formats, files: Files) -> Outline:
    """Read the outline of a project through the calling plugin's files.

    Raises `YazError` (`format-failed`, or `format-not-granted` where the user withheld the project from the format).
    """
    claim = formats.of(project.entry)
    if claim is None:
        raise YazError("engine-missing", f"no active format has {project.entry}", "yaz plugins shows what is active")
    formats.must_read(claim, project.entry, "reading an outline")
    tree = walk(project.root, lambda path: formats.may_read(claim, path))
    names = sorted(tree.files(formats.owned(claim)), key=lambda name: name != project.entry)
    sources = gather(files, names)
    raw = formats.outline(claim, project.folder, {"entry": project.entry, "files": sources.texts})
    return Outline(
        nodes=tuple(named(raw[:MOST_NODES])),
        unread=sources.unread,
        revision=sources.revision,
        complete=tree.complete and len(raw) <= MOST_NODES and not sources.unread,
    )


def gather(files: Files, names: Iterable[str]) -> Sources:
    """The text of the named documents, as far as they are UTF-8 and fit; the others are named with the reason."""
    texts: dict[str, str] = {}
    unread: list[Unread] = []
    revisions: list[str] = []
    room = MOST_SOURCE
    for name in names:
        try:
            data = files.read_bytes(name)
            revisions.append(f"{name} {revision_of(data)}")
            text = text_of(data)
        except YazError as error:
            unread.append(Unread(name, error.message))
            continue
        except (ServiceError, CapabilityError):
            unread.append(Unread(name, "the document cannot be read"))
            continue
        size = len(data) + len(name.encode()) + 64
        if size > room:
            unread.append(Unread(name, f"it and the documents before it are over the {MOST_SOURCE} bytes read at once"))
            continue
        room -= size
        texts[name] = text
    return Sources(texts, tuple(unread), hashlib.sha256("\n".join(revisions).encode()).hexdigest()[:16])


def named(raw: Iterable[RawNode]) -> list[Node]:
    """Nodes with their identities: the label where it is there once, else the titles above it and which one it is."""
    nodes = list(raw)
    labels = Counter(node.label for node in nodes if node.label)
    above: list[tuple[int, str]] = []
    seen: dict[tuple[str, ...], int] = {}
    result = []
    for node in nodes:
        while above and above[-1][0] >= node.level:
            above.pop()
        way = (node.kind, *(title for _, title in above), node.title)
        above.append((node.level, node.title))
        seen[way] = seen.get(way, 0) + 1
        label = node.label[:_LONGEST_LABEL] if node.label else None
        once = label is not None and labels[node.label or ""] == 1
        digest = hashlib.sha256(repr((way, seen[way])).encode()).hexdigest()[:10]
        result.append(
            Node(
                id=f"<{label}>" if once else f"h-{digest}",
                title=_short(node.title),
                level=node.level,
                kind=node.kind,
                file=node.file,
                line=node.line,
                label=label,
            )
        )
    return result


def _short(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…"
