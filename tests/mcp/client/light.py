"""A server on the standard library alone, for tests in which it starts often: `python light.py FOLDER`.

It counts references (`check`) and mends them (`mend`); `tools.json` in FOLDER, if there is one, adds to what it lists.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
FOUND = {"type": "object", "properties": {"found": {"type": "integer"}}, "required": ["found"]}
TOOLS: dict[str, dict[str, Any]] = {
    "check": {"description": "Counts the references in a text.", "inputSchema": TEXT, "outputSchema": FOUND},
    "mend": {"description": "Mends references.", "inputSchema": TEXT},
}


def answer(method: str, params: dict[str, Any], folder: Path) -> dict[str, Any] | None:
    """The result of a request; None for one that is not known."""
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "light", "version": "1"},
        }  # fmt: skip
    if method == "tools/list":
        more = folder / "tools.json"
        tools = {**TOOLS, **(json.loads(more.read_text()) if more.exists() else {})}
        return {"tools": [{"name": name, **one} for name, one in tools.items()]}
    if method == "tools/call":
        found = {"found": params["arguments"]["text"].count("@")}
        return {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found}
    return None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message["method"], message.get("params", {}), Path(sys.argv[1]))
        said = {"error": {"code": -32601, "message": "unknown"}} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
