"""Every check, by subject, and all of them in the order of the seed."""

from __future__ import annotations

from yazcore.design_rules.rule import Rule
from yazcore.design_rules.rules import addresses, agreement, effects, lists, modes, names, powers, schemas, texts, whole

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (
            one
            for module in (addresses, agreement, effects, lists, modes, names, powers, schemas, texts, whole)
            for one in module.RULES
        ),
        key=lambda one: (one.number, one.id),
    )
)
"""All checks."""
