"""A plugin as the rules see it: its manifest as it stands, refused or not, its texts, and the reviewer's files.

What the rules say of a manifest that a host refuses is as good as of any other, so the document is read, not the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from yazcore.contract import Contract
from yazcore.design_rules.documents import asks, surface_of
from yazcore.design_rules.engine import Outcome, Selection, chosen, judge
from yazcore.design_rules.record import MISSING, read_record
from yazcore.design_rules.rule import Counts
from yazcore.design_rules.rules import RULES
from yazcore.design_rules.surface import Surface
from yazcore.design_rules.view import View
from yazcore.design_rules.waivers import Waivers, read_waivers
from yazcore.manifest.distribution_rules import REVIEW_FILE, WAIVERS_FILE
from yazcore.manifest.looking import Target
from yazcore.manifest.places import Path
from yazcore.manifest.reading import Reading

Texts = Mapping[str, Mapping[str, str]]
"""What message keys say, by locale and key."""


@attrs.frozen(kw_only=True)
class Case:
    """One plugin before the rules: its view, its waivers, and the text of its manifest, in which places count."""

    view: View
    waivers: Waivers
    text: str | None

    def outcome(self, selection: Selection | None = None) -> Outcome:
        """What the rules find."""
        selection = selection if selection is not None else chosen(RULES)
        return judge(self.view, selection, waivers=self.waivers, text=self.text)


def case_of(
    reading: Reading,
    texts: Texts,
    beside: Mapping[str, bytes],
    contract: Contract,
    *,
    completes: Mapping[str, bool] | None = None,
    before: Surface | None = None,
) -> Case | None:
    """The case of a manifest that was read; None where there is no document to judge.

    * `texts`: what its message keys say. `beside`: the reviewer's files, by name.
    * `completes`: of the resources that its code registered, by address, whether they propose values.
    * `before`: the surface of the last release.
    """
    surface = plugin_surface(reading.document, texts, contract, completes)
    if surface is None:
        return None
    record = read_record(beside[REVIEW_FILE]) if REVIEW_FILE in beside else MISSING
    waivers = read_waivers(beside[WAIVERS_FILE], RULES) if WAIVERS_FILE in beside else Waivers()
    return Case(view=View(surface, before, record), waivers=waivers, text=reading.text)


def case_of_target(target: Target, contract: Contract, before: Surface | None = None) -> Case | None:
    """The case of a target that was looked at."""
    return case_of(target.reading, target.texts, target.beside, contract, before=before)


def counts_of(target: Target, contract: Contract) -> Counts:
    """How many findings a target has. Nothing of it is run."""
    case = case_of_target(target, contract)
    if case is None:
        return Counts()
    outcome = case.outcome()
    errors = sum(one.severity == "error" for one in outcome.findings)
    return Counts(errors=errors, suspicions=len(outcome.findings) - errors, waived=len(outcome.waived))


def plugin_surface(
    document: Any, texts: Texts, contract: Contract, completes: Mapping[str, bool] | None = None
) -> Surface | None:
    """The surface that a manifest declares; None for a document that is no object."""
    if not isinstance(document, Mapping):
        return None
    provides = document.get("provides")
    found: dict[str, list[tuple[Path, Any]]] = {}
    for key in ("tools", "resources", "prompts"):
        entries = provides.get(key) if isinstance(provides, Mapping) else None
        if isinstance(entries, list):
            found[key] = [(("provides", key, index), entry) for index, entry in enumerate(entries)]

    def said(entry: Mapping[str, Any], what: str) -> Mapping[str, str]:
        key = entry.get(f"{what}Key")
        return {locale: by_key[key] for locale, by_key in texts.items() if isinstance(key, str) and key in by_key}

    surface = surface_of(
        found,
        is_plugin=True,
        texts=said,
        asks=asks(document.get("capabilities")),
        has_commands=isinstance(provides, Mapping) and bool(provides.get("commands")),
        scopes_with_ids=frozenset(kind.name for kind in contract.scope_kinds if kind.argument is not None),
    )
    if completes is None:
        return surface
    resources = (attrs.evolve(one, completes=completes.get(one.name)) for one in surface.resources)
    return attrs.evolve(surface, resources=tuple(resources), was_asked=True)
