"""The rules for what resources are called: URIs and URI templates (design 4; G53 to G57, G72)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from yazcore.contract import Contract
from yazcore.declarations import ResourceDeclaration
from yazcore.manifest.model import Manifest
from yazcore.manifest.names import is_id
from yazcore.manifest.note_rules import repeated_names
from yazcore.manifest.places import Fault, Path
from yazcore.manifest.words import did_you_mean, listed, quoted
from yazcore.uri_templates import BadTemplate, variables

SCHEME = "yaz"
"""The scheme of every plugin's resources."""

LONGEST_ADDRESS = 512
"""The longest URI or template, in characters."""

LONGEST_TTL = 365 * 24 * 60 * 60 * 1000
"""The longest time that a resource may be kept, in milliseconds: a year."""

MIME = re.compile(
    r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}(?:; ?[a-z0-9-]+=[A-Za-z0-9._-]+)*"
)
"""The form of a media type."""

LONGEST_MIME = 255
"""The longest media type, in characters."""

_AUTHORITY_CHARACTER = r"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-F]{2})"
_PLAIN_CHARACTER = r"(?:[A-Za-z0-9_~!$&'()*+,;=:@-]|%[0-9A-F]{2})"  # of a path, but for dots and slashes
_CHARACTER = rf"(?:\.|{_PLAIN_CHARACTER})"
_SEGMENT = rf"\.*{_PLAIN_CHARACTER}{_CHARACTER}*"  # neither empty nor made of dots
_VARIABLE = r"\{\+?[A-Za-z_][A-Za-z0-9_]*\}"


def _with_variables(character: str) -> str:
    """A text with variables in it, of which no two touch."""
    return rf"{character}*{_VARIABLE}(?:{character}+{_VARIABLE})*{character}*"


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_REST = re.compile(rf"{_AUTHORITY_CHARACTER}+(?:/{_SEGMENT})*")
_REST_OF_TEMPLATE = re.compile(
    rf"(?:{_AUTHORITY_CHARACTER}+|{_with_variables(_AUTHORITY_CHARACTER)})"
    rf"(?:/(?:{_SEGMENT}|{_with_variables(_CHARACTER)}))*"
)
_LITERAL = re.compile(rf"(?:{_CHARACTER}|/)*")
_EXPRESSION = re.compile(r"\{[^{}]*\}")


def address_form_of(schemes: Iterable[str], template: bool) -> re.Pattern[str]:
    """The form of an address that begins with one of the schemes, as far as one expression can say it."""
    rest = _REST_OF_TEMPLATE if template else _REST
    return re.compile(f"(?:{'|'.join(map(re.escape, schemes))})://{rest.pattern}")


def _resources(manifest: Manifest) -> Iterator[tuple[Path, ResourceDeclaration]]:
    for index, resource in enumerate(manifest.provides.resources):
        yield ("provides", "resources", index), resource


def _address(path: Path, resource: ResourceDeclaration) -> tuple[Path, str] | None:
    """Where the address stands, and the address; None unless there is exactly one."""
    if (resource.uri is None) == (resource.uri_template is None):
        return None
    wire = "uri" if resource.uri is not None else "uriTemplate"
    return (*path, wire), resource.address


def _variables(resource: ResourceDeclaration) -> tuple[str, ...] | None:
    """The template's variables; None where it is no template that a resource may have."""
    try:
        return variables(resource.uri_template) if resource.uri_template is not None else ()
    except BadTemplate:
        return None


def one_address(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """A resource has one address, and no two have the same."""
    seen: dict[str, int] = {}
    for index, (path, resource) in enumerate(_resources(manifest)):
        found = _address(path, resource)
        if found is None:
            yield Fault(
                "resource-address", 'a resource has exactly one of "uri" and "uriTemplate"',
                'give "uri" for one thing, "uriTemplate" for many', path,
            )  # fmt: skip
        elif (first := seen.setdefault(found[1], index)) != index:
            yield Fault(
                "resource-duplicate", f"entry {first + 1} has the address {quoted(found[1])} already",
                "remove one of them", found[0],
            )  # fmt: skip


def address_form(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """An address is a plain URI: scheme, authority, path; with a template's variables in place of whole texts."""
    for path, resource in _resources(manifest):
        if (found := _address(path, resource)) is None:
            continue
        place, address = found
        if resource.uri_template is not None:
            try:
                names = variables(address)
            except BadTemplate as bad:
                yield Fault("resource-template", f"{quoted(address)} is not a template: {bad}", _TEMPLATE_FIX, place)
                continue
            if not names:
                message = f"{quoted(address)} has no variable"
                yield Fault("resource-template", message, 'call it "uri", or add one', place)
                continue
        fault = _form_fault(address if resource.uri is not None else _EXPRESSION.sub("x", address))
        if fault is None and len(address) > LONGEST_ADDRESS:
            fault = f"it is longer than {LONGEST_ADDRESS} characters"
        if fault is not None:
            yield Fault("resource-uri", f"{quoted(address)} is not an address: {fault}", _URI_FIX, place)


_TEMPLATE_FIX = "use variables such as {key}, each once, with text between them"
_URI_FIX = "name the thing, not where it is kept, as in yaz://zotero/library/main"


def _form_fault(uri: str) -> str | None:
    scheme, separator, rest = uri.partition("://")
    if not separator or not _SCHEME.fullmatch(scheme):
        return "it begins with no scheme and ://"
    if _REST.fullmatch(rest):
        return None
    if not _LITERAL.fullmatch(rest):
        return "it holds a query, a fragment, or a character that has to be percent-encoded"
    authority = rest.partition("/")[0]
    if not authority or "@" in authority or ":" in authority:
        return "what follows :// is a name, without user or port"
    return "a part of its path is empty or made of dots"


def namespace(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """A plugin's resources lie under `yaz://<id>/`; the host's own have a scheme of the host's."""
    for path, resource in _resources(manifest):
        if (found := _address(path, resource)) is None:
            continue
        place, address = found
        if manifest.id == contract.host:
            schemes = (SCHEME, *contract.schemes)
            if address.partition("://")[0] not in schemes:
                yield Fault(
                    "resource-namespace", f"{quoted(address)} has no scheme of {contract.host}",
                    f"use one of {listed(schemes)}", place,
                )  # fmt: skip
        elif is_id(manifest.id) and not address.startswith(f"{SCHEME}://{manifest.id}/"):
            yield Fault(
                "resource-namespace", f"{quoted(address)} does not belong to this plugin",
                f"begin it with {SCHEME}://{manifest.id}/", place,
            )  # fmt: skip


def documented_variables(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Each variable of a template is documented, and nothing else is (G57)."""
    for path, resource in _resources(manifest):
        names = _variables(resource)
        if names is None or _address(path, resource) is None:
            continue
        documented = [variable.name for variable in resource.variables]
        for name in names:
            if name not in documented:
                yield Fault(
                    "resource-variable-undocumented", f"nothing says what may stand for {quoted(name)}",
                    f'add {{"name": {quoted(name)}, "note": "…"}} to "variables"', (*path, "variables"),
                )  # fmt: skip
        for number, name in enumerate(documented):
            if name not in names:
                yield Fault(
                    "resource-variable-unknown", f"the address has no variable {quoted(name)}",
                    did_you_mean(name, names, "its variables are"), (*path, "variables", number, "name"),
                )  # fmt: skip
            if resource.variables[number].values == ():
                yield Fault(
                    "resource-variable-values", f"no value is allowed for {quoted(name)}",
                    "name the values, or leave the list out", (*path, "variables", number, "values"),
                )  # fmt: skip
        yield from repeated_names(resource.variables, "variables", (*path, "variables"))


def scope_variable(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """A resource in a scope that has ids names the id in its address (design 4)."""
    for path, resource in _resources(manifest):
        kind = contract.scope_kind(resource.scope)
        names = _variables(resource)
        if kind is None or kind.argument is None or names is None or _address(path, resource) is None:
            continue
        if kind.argument not in names:
            yield Fault(
                "resource-scope-variable",
                f"a resource of scope {quoted(kind.name)} has the variable {quoted(kind.argument)}",
                f'give a "uriTemplate" with {{{kind.argument}}} in it',
                (*path, "uriTemplate" if resource.uri_template is not None else "uri"),
            )


def is_media_type(text: str) -> bool:
    """Whether a text is a media type, in lower case, with plain parameters."""
    return len(text) <= LONGEST_MIME and MIME.fullmatch(text) is not None


def metadata(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """The media type is one, and a time to keep is possible."""
    for path, resource in _resources(manifest):
        if resource.mime_type is not None and not is_media_type(resource.mime_type):
            yield Fault(
                "resource-mime-type", f"{quoted(resource.mime_type)} is not a media type",
                'write type/subtype in lower case, as in "application/json"', (*path, "mimeType"),
            )  # fmt: skip
        if not 0 <= resource.cache.ttl_ms <= LONGEST_TTL:
            yield Fault(
                "resource-cache", f"a resource cannot be kept for {resource.cache.ttl_ms} milliseconds",
                f"give 0 to {LONGEST_TTL} milliseconds, at most a year", (*path, "cache", "ttlMs"),
            )  # fmt: skip


RULES = (one_address, address_form, namespace, documented_variables, scope_variable, metadata)
"""The rules of this page, in the order they stand here."""
