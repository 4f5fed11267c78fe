"""Checking a manifest: what reading leaves out because it costs more, texts and schemas (design 4).

Asked at check, preview, grant and activation; listings only read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from yazcore.contract import Contract
from yazcore.manifest.discovery import Found
from yazcore.manifest.messages import check_messages
from yazcore.manifest.model import Manifest
from yazcore.manifest.places import Fault, bounded, located, path_of
from yazcore.manifest.reading import Reading, read_found
from yazcore.manifest.schemas import schema_faults
from yazcore.violations import Violation


def check(manifest: Manifest, folder: Path, contract: Contract) -> tuple[Violation, ...]:
    """What is wrong with a manifest's texts and schemas; `folder` is the plugin's package. Never raises.

    For a manifest that was read: its pointers have no line and column.
    """
    return located(bounded(_faults(manifest, folder)), None)


def check_found(found: Found, contract: Contract) -> tuple[Violation, ...]:
    """Everything that is wrong with a plugin that was found: reading, texts and schemas, in document order."""
    return check_reading(read_found(found, contract), found.folder)


def check_reading(reading: Reading, folder: Path) -> tuple[Violation, ...]:
    """Everything that is wrong with a manifest that was read, in document order; `folder` is the plugin's package.

    Texts and schemas are only looked at where reading found no error.
    """
    if reading.manifest is None:
        return reading.violations
    more = located(bounded(_faults(reading.manifest, folder)), reading.text)
    return tuple(sorted((*reading.violations, *more), key=lambda one: (one.line or 0, one.column or 0)))


def _faults(manifest: Manifest, folder: Path) -> Iterator[Fault]:
    for index, tool in enumerate(manifest.provides.tools):
        for wire, schema in (("inputSchema", tool.input_schema), ("outputSchema", tool.output_schema)):
            if schema is not None:
                for fault in schema_faults(schema):
                    path = ("provides", "tools", index, wire, *fault.path)
                    yield Fault(fault.code, fault.message, fault.fix, path)
    for violation in check_messages(manifest, manifest.locales_in(folder)):
        yield Fault(
            violation.code, violation.message, violation.fix, path_of(violation.pointer), severity=violation.severity
        )
