"""Finding a plugin in the document. An index may be a stranger's: it is bounded, and held against its schema."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from yazcore.manifest.words import quoted, shortened
from yazcore.registry.document import PUBLISHED
from yazcore.violations import YazError

MOST_BYTES = 256 * 1024 * 1024
"""The largest index that is searched, in bytes."""

_WEIGHTS = {"id": 8, "name": 8, "description": 4, "tools": 2, "capabilities": 1, "author": 1}
"""Where a word is looked for, and what finding it there counts."""


@attrs.frozen(kw_only=True)
class Match:
    """A plugin that has all the words: what its newest version says of it, and where the words stand."""

    id: str
    name: str
    version: str
    description: str
    where: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The match as `yaz registry search --json` shows it."""
        return {**attrs.asdict(self), "where": list(self.where)}


def load(path: Path) -> dict[str, Any]:
    """The document in a file. Raises `YazError` `registry-index` for what is none."""
    fix = "give a file that yaz registry build has made"
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise YazError("registry-index", f"{quoted(path.name)} is larger than {MOST_BYTES} bytes", fix)
        document = json.loads(data)
    except OSError as error:
        raise YazError("registry-index", f"{quoted(path.name)} cannot be read: {error.strerror}", fix) from None
    except (ValueError, RecursionError):
        raise YazError("registry-index", f"{quoted(path.name)} is not JSON", fix) from None
    if (wrong := _wrong(document)) is not None:
        raise YazError("registry-index", f"{quoted(path.name)} is no index of plugins: {wrong}", fix)
    found: dict[str, Any] = document
    return found


def _wrong(document: Any) -> str | None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    schema = json.loads((Path(__file__).parent / PUBLISHED).read_text("utf-8"))
    try:
        error = best_match(Draft202012Validator(schema).iter_errors(document))
    except RecursionError:
        return "it nests too deeply"
    return None if error is None else f"{error.json_path}: {shortened(error.message)}"


def search(document: Mapping[str, Any], words: Sequence[str]) -> tuple[Match, ...]:
    """The plugins in which each word stands, whatever its case and its accents, the best first, then by id.

    Of each plugin its newest version counts: its id, name, description and author, its tools by their names and their
    texts in every language, the capabilities it asks for.
    """
    wanted = [folded for word in words if (folded := _folded(word))]
    found: list[tuple[int, Match]] = []
    for plugin in document["plugins"]:
        fields = {name: _folded("\n".join(texts)) for name, texts in _fields(plugin).items()}
        where = {word: [name for name, text in fields.items() if word in text] for word in wanted}
        if wanted and all(where.values()):
            weight = sum(_WEIGHTS[name] for names in where.values() for name in names)
            weight += 100 * (fields["id"] in wanted)
            places = [name for name in fields if any(name in names for names in where.values())]
            found.append((-weight, _match(plugin, places)))
    return tuple(match for _, match in sorted(found, key=lambda pair: (pair[0], pair[1].id)))


def _match(plugin: Mapping[str, Any], where: Sequence[str]) -> Match:
    return Match(
        id=plugin["id"], name=plugin["name"], version=plugin["latest"], description=plugin["description"],
        where=tuple(where),
    )  # fmt: skip


def _fields(plugin: Mapping[str, Any]) -> dict[str, list[str]]:
    """Where words are looked for. A manifest in an index need not be one: what is not text is passed over."""
    newest = next((one for one in plugin["versions"] if one["version"] == plugin["latest"]), None)
    return {
        "id": [plugin["id"]],
        "name": [plugin["name"]],
        "description": [plugin["description"]],
        "tools": [] if newest is None else list(_tool_texts(newest)),
        "capabilities": [] if newest is None else [f"{one['kind']} {one['sentence']}" for one in newest["asks"]],
        "author": [plugin["author"]],
    }


def _tool_texts(version: Mapping[str, Any]) -> Iterator[str]:
    provides = version["manifest"].get("provides")
    tools = provides.get("tools") if isinstance(provides, dict) else None
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            yield str(tool.get("name", ""))
            for texts in version["texts"].values():
                yield texts.get(str(tool.get("descriptionKey")), "")


def _folded(text: str) -> str:
    """A text as people look for it: without case, without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not unicodedata.combining(sign)).strip()
