"""The rules that a well-formed manifest must keep, one function each: who the plugin is, and all of them in `RULES`.

A rule takes a manifest and a contract and yields faults. Rules are cheap: no file, no text in Fluent, no JSON Schema.
They also see drafts (`structure`), in which what could not be read is empty: a rule that needs an id, say, is silent
where there is no legal one, so that one mistake is one violation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from packaging.version import Version

from yazcore.contract import Contract
from yazcore.manifest import address_rules, contribution_rules, note_rules
from yazcore.manifest.model import Manifest
from yazcore.manifest.names import LONGEST_ID, LONGEST_VERSION, is_id, is_version
from yazcore.manifest.places import Fault
from yazcore.manifest.records import camel
from yazcore.manifest.words import UNPRINTABLE, is_harmless, is_printable, quoted, shortened

if TYPE_CHECKING:
    from yazcore.manifest.discovery import Found

Rule = Callable[[Manifest, Contract], Iterator[Fault]]

MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*")
"""The form of `module`."""

LONGEST_MODULE = 255
"""The longest `module`, in characters."""

FOLDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
"""The form of `locales`."""

REPOSITORY = re.compile(
    r"https://(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
    r"(?:[/?#][!-~]*)?"
)
"""The form of `repository`: a host, without a user, a port that is one, whatever can be seen in ASCII."""

LONGEST_URL = 2048
"""The longest `repository`, in characters."""

ICON = re.compile(f"[^\\s\ufe0f{UNPRINTABLE}]\ufe0f?")
"""The form of `icon`: one character, and the mark that asks for its colourful form."""

LONGEST_LINE = 100
"""The longest name, author or licence, in characters."""

LONGEST_PAGE = 2000
"""The longest description, in characters."""


def contract_number(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """The contract is the host's own: lower and higher are both refused (S-17)."""
    wanted, accepted, host = manifest.contract, contract.number, contract.host
    if wanted == accepted:
        return
    if wanted < accepted:
        fix = f"take a newer version of the plugin, built for contract {accepted}"
    else:
        fix = f"update {host} to one that accepts contract {wanted}, or take a version built for contract {accepted}"
    message = f"the manifest is written for contract {wanted}, and this {host} accepts contract {accepted} only"
    yield Fault("contract-mismatch", message, fix, ("contract",))


def id_form(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Small letters, digits and single hyphens, at most 24 characters."""
    if not is_id(manifest.id):
        yield Fault(
            "id-invalid",
            f"{quoted(manifest.id)} is not a plugin id",
            f"begin with a letter, use a-z, 0-9 and single hyphens, at most {LONGEST_ID} characters",
            ("id",),
        )


def id_reserved(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Nobody else may have an id of the host's (YB-5). Not asked of plugins that come with the host."""
    if manifest.id in contract.reserved or manifest.id == contract.host:
        yield Fault(
            "id-reserved", f"the id {quoted(manifest.id)} belongs to {contract.host}", "choose another id", ("id",)
        )


def versions(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Both versions are versions (PEP 440)."""
    for wire, text in (("version", manifest.version), ("minAppVersion", manifest.min_app_version)):
        if _version(text) is None:
            fix = f"write it as PEP 440 has it, as in 1.0.0, in at most {LONGEST_VERSION} characters"
            yield Fault("version-invalid", f"{quoted(text)} is not a version", fix, (wire,))


def host_age(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """The host application is at least as new as the plugin needs; where it does not say how new it is, a warning."""
    needed, present = _version(manifest.min_app_version), _version(contract.version)
    if present is None:
        yield Fault(
            "host-version-unknown",
            f"{contract.host} calls its version {quoted(contract.version)}, which cannot be compared",
            f"find out whether {contract.host} is new enough for the plugin",
            ("minAppVersion",),
            severity="warning",
        )
    elif needed is not None and needed > present:
        yield Fault(
            "host-too-old",
            f"the plugin needs {contract.host} {needed} or newer, and this is {contract.host} {contract.version}",
            f"update {contract.host}, or take an older version of the plugin",
            ("minAppVersion",),
        )


def module_form(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """The class is named as `package.module:Class`."""
    if len(manifest.module) > LONGEST_MODULE or not MODULE.fullmatch(manifest.module):
        yield Fault(
            "module-invalid",
            f"{quoted(manifest.module)} does not name a class",
            "write package.module:Class, as in yaz_plugin_zotero.plugin:ZoteroPlugin",
            ("module",),
        )


def plain_texts(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """What people read of the plugin says something, fits on a line or a page, and cannot disturb a terminal."""
    for name, longest in (("name", LONGEST_LINE), ("author", LONGEST_LINE), ("description", LONGEST_PAGE)):
        yield from _text(getattr(manifest, name), name, longest)
    if manifest.license is not None:
        yield from _text(manifest.license, "license", LONGEST_LINE)
    if manifest.icon is not None and not ICON.fullmatch(manifest.icon):
        message = f"{quoted(manifest.icon)} is not one character"
        yield Fault("icon-invalid", message, "use one visible character", ("icon",))


def _text(text: str, wire: str, longest: int) -> Iterator[Fault]:
    if not text.strip():
        yield Fault("text-empty", f"{quoted(wire)} says nothing", "write what people should read", (wire,))
    elif len(text) > longest:
        message = f"{quoted(wire)} has {len(text)} characters, and at most {longest} are shown"
        yield Fault("text-too-long", message, "shorten it", (wire,))
    elif not (is_harmless(text) if wire == "description" else is_printable(text)):
        yield Fault(
            "text-unprintable", f"{quoted(wire)} holds control characters", "remove them: nobody can see them", (wire,)
        )


def repository(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """The repository is an https URL."""
    url = manifest.repository
    if url is not None and (len(url) > LONGEST_URL or not REPOSITORY.fullmatch(url)):
        yield Fault(
            "repository-invalid",
            f"{quoted(url)} is not an https URL",
            "give the address of the source, as in https://example.org/me/my-plugin",
            ("repository",),
        )


def locales_folder(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """The folder of message files lies directly in the package."""
    if manifest.locales is not None and not FOLDER.fullmatch(manifest.locales):
        yield Fault(
            "locales-invalid",
            f"{quoted(manifest.locales)} is not a folder of the package",
            'name a folder directly in the package, as in "locales"',
            ("locales",),
        )


def capability_targets(manifest: Manifest, contract: Contract) -> Iterator[Fault]:
    """Each kind of capability judges its own targets, and no two entries ask for the same."""
    seen: dict[str, int] = {}
    for index, capability in enumerate(manifest.capabilities):
        faults = list(capability.faults())
        for fault in faults:
            inner = (camel(part) if isinstance(part, str) else part for part in fault.path)
            place = ("capabilities", index, *inner)
            yield Fault(fault.code, shortened(fault.message), shortened(fault.fix), place)
        if not faults and capability.kind:
            first = seen.setdefault(capability.identity, index)
            if first != index:
                yield Fault(
                    "capability-duplicate", f"this asks for the same as entry {first + 1}", "leave one of them out",
                    ("capabilities", index),
                )  # fmt: skip


RULES: tuple[Rule, ...] = (
    contract_number, id_form, id_reserved, versions, host_age, module_form, plain_texts, repository, locales_folder,
    capability_targets, *contribution_rules.RULES, *note_rules.RULES, *address_rules.RULES,
)  # fmt: skip
"""Every rule that reading asks. Their order does not count: violations come in document order."""


# -- a manifest and where it was found -------------------------------------------------------------------------------


def module_elsewhere(manifest: Manifest, package: str | None) -> Iterator[Fault]:
    """The class lies in the package that the manifest lies in: nobody can take another's code (design 4)."""
    found = manifest.module.partition(":")[0].partition(".")[0]
    if package is not None and found != package and MODULE.fullmatch(manifest.module):
        yield Fault(
            "module-elsewhere",
            f"the manifest lies in the package {quoted(package)}, and its class in {quoted(found)}",
            f"name a class of {package}",
            ("module",),
        )


def disagreements(manifest: Manifest, found: Found) -> Iterator[Fault]:
    """Where a manifest and the distribution that brings it say different things (design 4)."""
    yield from module_elsewhere(manifest, found.folder.name)
    if is_id(manifest.id) and manifest.id != found.id:
        yield Fault(
            "id-differs",
            f"the manifest says {quoted(manifest.id)}, the entry point of {found.distribution} {quoted(found.id)}",
            "give both the same id",
            ("id",),
        )
    version, installed = _version(manifest.version), _version(found.version)
    if version is not None and version != installed:
        yield Fault(
            "version-differs",
            f"the manifest says {quoted(manifest.version)}, and {found.distribution} is {quoted(found.version)}",
            "give both the same version, and install the plugin again",
            ("version",),
        )


def _version(text: str) -> Version | None:
    return Version(text) if is_version(text) else None
