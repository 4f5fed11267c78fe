"""What the tests of this room share: folders with documents, and yaz itself over them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from yazcore import OWNER, CallContext, Cancelled, Outcome, Principal
from yazcore.writing.application import WritingApp

_PAUSE = threading.Event()

STOPPED = threading.Event()
"""Set when `wait_until_stopped` was stopped."""


def wait_until_stopped(context: CallContext) -> None:
    """What a handler does that only ends when nobody waits for it any more."""
    try:
        while True:
            context.check()
            _PAUSE.wait(0.05)
    except Cancelled:
        STOPPED.set()
        raise


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write the documents of a project, with the folders on the way; gives the folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    root.mkdir(parents=True, exist_ok=True)
    return root


def call(application: WritingApp, tool: str, principal: Principal = OWNER, **arguments: Any) -> Outcome:
    """One call through the gate."""
    return asyncio.run(application.host.gate.call_tool(principal, tool, arguments))


def done(application: WritingApp, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a call that has to succeed."""
    outcome = call(application, tool, **arguments)
    assert not outcome.is_error, outcome.text
    assert outcome.structured is not None
    return dict(outcome.structured)


def refused(application: WritingApp, tool: str, **arguments: Any) -> str:
    """The text of a call that has to be refused."""
    outcome = call(application, tool, **arguments)
    assert outcome.is_error
    return outcome.text
