"""Schema and reading say the same of a manifest; where they cannot, it stands here, each with a reason and a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from tests.manifest.documents import changed, manifests
from tests.manifest.mistakes import MISTAKES, TEXT, Mistake
from tests.manifest.samples import CONTRACT, GOOD, codes, good, reading, text
from yazcore.contract import Contract
from yazcore.contributions import CONTRIBUTION_KINDS, ContributionKind
from yazcore.manifest.reading import read
from yazcore.manifest.schema import schema
from yazcore.violations import Violation

VALIDATOR = Draft202012Validator(schema(CONTRACT))


def spoiled(change: Callable[[dict[str, Any]], object]) -> bytes:
    document = good()
    change(document)
    return text(document)


def tool(index: int, **values: Any) -> bytes:
    return spoiled(lambda document: document["provides"]["tools"][index].update(values))


def resource(index: int, **values: Any) -> bytes:
    return spoiled(lambda document: document["provides"]["resources"][index].update(values))


def capability(entry: dict[str, Any]) -> bytes:
    return text({**GOOD, "capabilities": [entry]})


@attrs.frozen
class Beyond:
    """One thing that only reading sees: why a schema cannot, and bytes that the schema accepts and reading does not."""

    what: str
    why: str
    data: bytes
    code: str
    package: str | None = None


WRITTEN = (
    Beyond("duplicate keys", "a schema judges what was parsed, and parsers keep one of them",
           text(GOOD).replace(b'"author": "Anna",', b'"author": "Ben", "author": "Anna",'), "json-duplicate-key"),
    Beyond("1.0", "in JSON Schema 1.0 is an integer; here the contract is written 1",
           text(GOOD).replace(b'"contract": 1,', b'"contract": 1.0,'), "manifest-wrong-type"),
    Beyond("NaN", "it is no JSON, and parsers that take it make a number of it",
           text(GOOD).replace(b'"maximum": 50', b'"maximum": NaN'), "json-number"),
    Beyond("integers over 64 bits", "JSON Schema knows no size of numbers; not every parser keeps them",
           text(GOOD).replace(b'"maximum": 50', b'"maximum": 18446744073709551616'), "json-number"),
    Beyond("size", "a schema judges values, not bytes", text(GOOD) + b" " * 2**18, "json-too-large"),
    Beyond("depth", "a schema counts no levels",
           tool(0, outputSchema={"type": "object", "default": json.loads("[" * 40 + "]" * 40)}), "json-too-deep"),
    Beyond("lone surrogates", "escapes can write what is no text; parsers differ in what they make of it",
           text(GOOD).replace(b"words, or a citation key", b"words, or a \\ud800"), "json-lone-surrogate"),
    Beyond("a byte order mark", "a schema judges values, not bytes", b"\xef\xbb\xbf" + text(GOOD), "json-bom"),
    Beyond("another encoding", "a schema judges values, not bytes",
           text(GOOD).decode().encode("utf-16"), "json-bom"),
    Beyond("a line break at the end", "to some validators, $ also matches before it (P-1)",
           text({**GOOD, "license": "MIT"}).replace(b'"id": "zotero"', b'"id": "zotero\\n"'), "id-invalid"),
)  # fmt: skip
"""How the text is written."""

REFERRED = (
    Beyond("permission-invalid", "it depends on the id", spoiled(
        lambda document: document["permissions"].append({"action": "other:read", "descriptionKey": "k"})
    ), "permission-invalid"),
    Beyond("permission-duplicate", "entries differ in more than the action", spoiled(
        lambda document: document["permissions"].append({"action": "zotero:read", "descriptionKey": "k"})
    ), "permission-duplicate"),
    *(
        Beyond(f"{key[:-1]}-permission-undeclared", "it depends on the permissions", spoiled(
            lambda document, key=key: document["provides"][key][0].update(permission="zotero:look")
        ), f"{key[:-1]}-permission-undeclared")
        for key in ("tools", "resources", "prompts")
    ),
    Beyond("name-duplicate", "names are the same but for case, - and _",
           tool(1, name="search_library"), "name-duplicate"),
    Beyond("name-too-long", "it depends on the id", tool(1, name="a" * 48), "name-too-long"),
    Beyond("capability-duplicate", "the same can be asked for in other words", spoiled(
        lambda document: document["capabilities"].append({"kind": "net", "hosts": ["API.zotero.org"]})
    ), "capability-duplicate"),
    Beyond("tool-param-unknown", "it depends on the properties",
           tool(0, params=[{"name": "querry"}]), "tool-param-unknown"),
    Beyond("format-extension-duplicate", "it depends on the other formats", spoiled(
        lambda document: document["provides"]["formats"].append(
            {"id": "other", "nameKey": "k", "extensions": [".bib"]}
        )
    ), "format-extension-duplicate"),
    Beyond("resource-duplicate", "entries differ in more than the address", spoiled(
        lambda document: document["provides"]["resources"].append(
            document["provides"]["resources"][1] | {"nameKey": "other"}
        )
    ), "resource-duplicate"),
    Beyond("resource-namespace", "it depends on the id",
           resource(1, uri="yaz://other/libraries"), "resource-namespace"),
    Beyond("resource-template", "no pattern finds a variable that stands twice",
           resource(0, uriTemplate="yaz://zotero/{key}/{key}"), "resource-template"),
    Beyond("resource-variable-undocumented", "it depends on the template",
           resource(0, uriTemplate="yaz://zotero/{library}/{key}/{page}"), "resource-variable-undocumented"),
    Beyond("resource-variable-unknown", "it depends on the template",
           resource(0, uriTemplate="yaz://zotero/{library}"), "resource-variable-unknown"),
)  # fmt: skip
"""What one part of a manifest says of another."""

JUDGED = (
    Beyond("id-reserved", "the host's own manifests, of the same schema, have such ids",
           text({key: GOOD[key] for key in GOOD if key not in ("permissions", "provides")} | {"id": "yaz"}),
           "id-reserved"),
    Beyond("host-too-old", "versions are not compared as texts",
           text({**GOOD, "minAppVersion": "9.0"}), "host-too-old"),
    Beyond("module-elsewhere", "it depends on where the manifest lies", text(GOOD), "module-elsewhere", "another"),
    Beyond("capability-host", "what a host is, IDNA and two kinds of addresses say",
           capability({"kind": "net", "hosts": ["a..org"]}), "capability-host"),
    Beyond("capability-host-private", "which addresses are public, lists say",
           capability({"kind": "net", "hosts": ["10.0.0.1"]}), "capability-host-private"),
    Beyond("capability-path", "a path is judged by its parts, and Unicode says what can be seen",
           capability({"kind": "fs-project", "paths": ["a/../b"]}), "capability-path"),
    Beyond("capability-path-protected", "names are compared as the most forgiving file system does",
           capability({"kind": "fs-project", "paths": [".Git"]}), "capability-path-protected"),
    Beyond("capability-path-too-wide", "which folders are too wide, a list says",
           capability({"kind": "fs-read", "path": "~"}), "capability-path-too-wide"),
)  # fmt: skip
"""What the host or a long list has to judge."""

ONLY_READING = {one.code for one in (*REFERRED, *JUDGED)}
"""The codes of which a schema says nothing, or not all."""


@pytest.mark.parametrize("beyond", [*WRITTEN, *REFERRED, *JUDGED], ids=lambda one: one.what)
def test_what_only_reading_sees(beyond: Beyond) -> None:
    encoding = "utf-16" if beyond.data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    as_parsed = json.loads(beyond.data.decode(encoding))
    assert [error.message for error in VALIDATOR.iter_errors(as_parsed)] == []
    found = read(beyond.data, CONTRACT, package=beyond.package).violations
    assert {one.code for one in found} == {beyond.code}


@attrs.frozen(kw_only=True)
class Odd:
    """A host's own entry, with a rule of its own."""

    number: int = attrs.field(validator=attrs.validators.ge(3))


def test_a_hosts_own_validator_is_code_and_no_schema_has_it() -> None:
    kind = ContributionKind(
        key="odd", hook="provide_odd", declaration=Odd, registration=Odd,
        declared_name=lambda declared: str(declared.number), registered_name=lambda registered: str(registered.number),
    )  # fmt: skip
    contract = attrs.evolve(CONTRACT, contribution_kinds=(*CONTRIBUTION_KINDS, kind))
    document = good()
    document["provides"]["odd"] = [{"number": 1}]
    assert Draft202012Validator(schema(contract)).is_valid(document)
    assert codes(reading(document, contract).violations) == [("manifest-wrong-value", "/provides/odd/0")]


def outcome(document: Any, contract: Contract = CONTRACT) -> tuple[bool, list[Violation]]:
    return VALIDATOR.is_valid(document), list(reading(document, contract).violations)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(manifests())
def test_both_accept_good_manifests(document: dict[str, Any]) -> None:
    assert reading(document).violations == ()
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changed())
def test_both_refuse_the_same_changes(document: dict[str, Any]) -> None:
    accepted, violations = outcome(document)
    refused = [one for one in violations if one.code not in ONLY_READING]
    if refused:
        assert not accepted, [one.as_json() for one in refused]
    elif not violations:
        assert accepted, [error.message for error in VALIDATOR.iter_errors(document)]


def filled(letter: str, before: str = "") -> Callable[[int], str]:
    return lambda length: before + letter * (length - len(before))


BOUNDS: tuple[tuple[str, Callable[[int], Any], int], ...] = (
    ("name", filled("x"), 100),
    ("version", filled("1"), 64),
    ("minAppVersion", filled("0"), 64),
    ("author", filled("x"), 100),
    ("description", filled("x"), 2000),
    ("license", filled("x"), 100),
    ("module", filled("B", "a:"), 255),
    ("repository", filled("x", "https://a.org/"), 2048),
    ("locales", filled("x"), 64),
    ("capabilities/0/paths/0", filled("x"), 4000),
    ("capabilities/0/reasonKey", filled("x"), 100),
    ("capabilities/1/place", filled("x"), 64),
    ("capabilities/3/ports/0", int, 65535),
    ("capabilities/3/readMethods/0", filled("X"), 20),
    ("capabilities/4/commands/0", filled("x"), 64),
    ("capabilities/5/servers/0", filled("x"), 64),
    ("capabilities/5/tools/0", filled("x"), 128),
    ("capabilities/6/names/0", filled("x"), 64),
    ("permissions/1/descriptionKey", filled("x"), 100),
    ("provides/commands/0/id", filled("x"), 48),
    ("provides/formats/0/extensions/0", filled("x", "."), 32),
    ("provides/tools/0/deadlineSeconds", int, 600),
    ("provides/tools/0/maxResult", int, 2**21),
    ("provides/tools/0/params/0/note", filled("x"), 1000),
    ("provides/tools/0/params/0/shape", filled("x"), 200),
    ("provides/tools/0/params/0/values/0", filled("x"), 200),
    ("provides/resources/0/cache/ttlMs", int, 31_536_000_000),
    ("provides/resources/0/mimeType", filled("x", "text/plain; a="), 255),
    ("provides/resources/0/uriTemplate", filled("x", "yaz://notes/{projectId}/{note}"), 512),
    ("provides/resources/0/variables/1/note", filled("x"), 1000),
    ("provides/resources/0/variables/1/values/0", filled("x"), 200),
    ("provides/resources/1/uri", filled("x", "yaz://notes/"), 512),
    ("provides/prompts/0/arguments/1/name", filled("x"), 64),
    ("provides/prompts/0/arguments/1/note", filled("x"), 1000),
    ("provides/settings/0/key", filled("x"), 48),
    ("provides/settings/0/default", filled("x"), 2000),
    ("capabilities/3/hosts", lambda count: [f"a{number}.org" for number in range(count)], 500),
    ("provides/settings", lambda count: [
        {"key": f"k{number}", "type": "string", "descriptionKey": "k"} for number in range(count)
    ], 500),
)  # fmt: skip
"""A place in the text, what stands there of so many characters, entries or units, and the most there may be."""


@pytest.mark.parametrize(("place", "made", "most"), BOUNDS, ids=[place for place, *_ in BOUNDS])
def test_both_have_the_same_bounds(place: str, made: Callable[[int], Any], most: int) -> None:
    *path, last = [int(part) if part.isdecimal() else part for part in place.split("/")]
    document = inner = json.loads(TEXT)
    for part in path:
        inner = inner[part]
    inner[last] = made(most)
    assert outcome(document) == (True, [])
    inner[last] = made(most + 1)
    accepted, violations = outcome(document)
    assert not accepted
    assert len(violations) == 1


def is_seen_by_both(mistake: Mistake) -> bool:
    written = mistake.code.startswith("json-") or mistake.new.endswith('\\n",')  # see WRITTEN
    return not written and mistake.code not in ONLY_READING


@pytest.mark.parametrize("mistake", [one for one in MISTAKES if is_seen_by_both(one)], ids=lambda one: one.name[:60])
def test_a_mistake_that_a_schema_can_see_is_refused_by_it_too(mistake: Mistake) -> None:
    assert not VALIDATOR.is_valid(json.loads(mistake.text()))


def test_both_accept_the_text_without_a_mistake() -> None:
    assert outcome(json.loads(TEXT)) == (True, [])
