"""The outline of a Typst project: its headings in reading order, through every file that is included."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from yazcore.writing.plugins.typst.source import Heading, Include, scan

MOST_NODES = 5_001
"""One more than a host takes, so that it can tell that there were more."""

DEEPEST = 100
"""The deepest level; offsets that add up beyond it end there."""

MOST_INCLUDES = 2_000
"""The most includes that are followed: files that include each other twice grow without bound."""


def outline(entry: str, files: Mapping[str, str]) -> list[dict[str, Any]]:
    """Outline nodes (`title level kind file line label?`) from the entry on. Pure; never raises on any text.

    An include that leads to no given file is a node of kind `include`, so that it is not missed in silence.
    """
    nodes: list[dict[str, Any]] = []
    scans: dict[str, list[Heading | Include]] = {}

    def found_in(name: str) -> list[Heading | Include]:
        if name not in scans:
            scans[name] = scan(files[name])
        return scans[name]

    # Each level of the walk: the file, how much deeper its headings are, and what is left of it.
    walk: list[tuple[str, int, Iterator[Heading | Include]]] = []
    if entry in files:
        walk.append((entry, 0, iter(found_in(entry))))
    followed = 0
    while walk and len(nodes) < MOST_NODES and followed < MOST_INCLUDES:
        name, offset, rest = walk[-1]
        found = next(rest, None)
        if found is None:
            walk.pop()
        elif isinstance(found, Heading):
            nodes.append(_node(found.title, found.level + offset, "heading", name, found.line, found.label))
        else:
            target = resolve(name, found.name)
            if target in files and all(target != open_file for open_file, _, _ in walk):
                followed += 1
                walk.append((target, offset + found.offset, iter(found_in(target))))
            elif target not in files:
                nodes.append(_node(found.name, 1 + offset + found.offset, "include", name, found.line, None))
    return nodes


def _node(title: str, level: int, kind: str, file: str, line: int, label: str | None) -> dict[str, Any]:
    node = {"title": title, "level": min(level, DEEPEST), "kind": kind, "file": file, "line": line}
    return node if label is None else {**node, "label": label}


def resolve(document: str, reference: str) -> str:
    """What a reference in a document names: relative to the document, or to the project's folder after a `/`."""
    base = "" if reference.startswith("/") else posixpath.dirname(document)
    return posixpath.normpath(posixpath.join(base, reference.lstrip("/") if reference.startswith("/") else reference))
