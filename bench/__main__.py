"""`python -m bench [NAME...] [--json]`: measure and print, a figure a line (design 9).

A figure is `{"name", "value", "unit", "goal", "holds", "against"}`. Absolute figures are guide values and say so.
A peer that is not installed is said, not skipped over. Exit status 1 where a goal does not hold.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys

NAMES = ("hooks", "guard", "isolated", "discovery", "listing", "mcp_call", "mcp_surface", "search", "design_rules")


def main() -> int:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ratios against peers, measured in one run.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all where none is given")
    parser.add_argument("--json", action="store_true", dest="as_json", help="a JSON object a line")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in NAMES]:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    all_hold = True
    for name in options.names or NAMES:
        for figure in importlib.import_module(f"bench.{name}").figures():
            all_hold &= figure["holds"] is not False
            print(json.dumps(figure) if options.as_json else text(figure), flush=True)
    return 0 if all_hold else 1


def text(figure: dict[str, object]) -> str:
    """One figure for people."""
    verdict = {True: "holds", False: "DOES NOT HOLD", None: "guide value"}[figure["holds"]]  # type: ignore[index]
    value = figure["value"]
    shown = "not measured" if value is None else f"{value:.3g}"
    measured = f"{figure['name']:<28} {shown:>10} {figure['unit']:<8}"
    return f"{measured} goal {figure['goal']!s:<10} {verdict:<14} against {figure['against']}"


if __name__ == "__main__":
    sys.exit(main())
