"""Run one child process within bounds, and end it with everything it started.

The child gets a session of its own, the environment it is given and nothing else, and an end: at the deadline, when
nobody waits any more, or when it says too much, its whole process group is told to end and then killed. An engine that
is only told to end may go on for ever with nobody watching (James-Yu/LaTeX-Workshop#2828).
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal, Protocol

import attrs

from yazcore.process_groups import Bounds, Watch


class Cancellation(Protocol):
    """Whatever says that nobody waits any more: a `threading.Event`, or a call's own flag."""

    def is_set(self) -> bool:
        """Whether to give up."""


Ending = Literal["exit", "deadline", "cancelled", "output", "processes", "memory"]

GRACE_SECONDS = 2.0
"""How long a child that is told to end may take before it is killed."""

_LOOK_SECONDS = 0.1
_CHUNK = 65_536
_MOST_STDERR = 65_536


@attrs.frozen(kw_only=True)
class ChildEnded:
    """How a child ended.

    `ending` is `exit` (by itself, also by a signal or a limit of its own), `deadline`, `cancelled`, `output` (it wrote
    more than it may), or `processes` and `memory` (its group had more than its bounds). `code` is the exit status;
    negative: the number of the signal that ended it. `stdout` and `stderr` are what it wrote, at most the bounds; of
    `stderr` the beginning, where a crash names its cause.
    """

    ending: Ending
    code: int
    stdout: bytes
    stderr: bytes
    seconds: float


def run_child(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: Path | bytes,
    seconds: float,
    most_stdout: int,
    cancelled: Cancellation | None = None,
    grace: float = GRACE_SECONDS,
    bounds: Bounds | None = None,
) -> ChildEnded:
    """Run `argv` in `cwd` with exactly the environment `env`, reading `stdin`, a file or bytes, at most `seconds`.

    `bounds` are for all that it starts together; they are looked at now and then, and where `/proc` tells of them.
    Blocks; safe from any thread. Raises `OSError` where the program cannot be started.
    """
    begun = time.monotonic()
    with _opened(stdin) as given:
        child = subprocess.Popen(  # noqa: S603 - an argument list that the host made, no shell
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            close_fds=True,
        )
    out, err = _Kept(child.stdout, most_stdout), _Kept(child.stderr, _MOST_STDERR)
    ending: Ending = "deadline"
    watch = None if bounds is None else Watch(child.pid, bounds)
    try:
        ending = _watch(child, out, err, begun + seconds, cancelled, watch)
    finally:
        _end(child, gently=ending not in ("exit", "processes", "memory"), grace=grace)
        for kept in (out, err):
            kept.stream.close()
    return ChildEnded(
        ending=ending,
        code=child.returncode,
        stdout=bytes(out.data),
        stderr=bytes(err.data),
        seconds=time.monotonic() - begun,
    )


def _opened(stdin: Path | bytes) -> IO[bytes]:
    """A file and no pipe: nobody has to feed a child that may not read."""
    if isinstance(stdin, Path):
        return stdin.open("rb")
    held = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asked closes it
    held.write(stdin)
    held.seek(0)
    return held


class _Kept:
    """One stream of the child, read to its end and kept up to a bound."""

    def __init__(self, stream: IO[bytes] | None, most: int) -> None:
        if stream is None:
            raise ValueError("the stream is no pipe")
        self.stream = stream
        self.data = bytearray()
        self.over = False
        self._most = most

    def read(self) -> bool:
        """Take what is there. False: the child closed its end."""
        chunk = os.read(self.stream.fileno(), _CHUNK)
        room = self._most - len(self.data)
        self.over = self.over or len(chunk) > room
        self.data += chunk[:room]
        return bool(chunk)


def _watch(
    child: subprocess.Popen[bytes], out: _Kept, err: _Kept, deadline: float, cancelled: Cancellation | None,
    watch: Watch | None,
) -> Ending:  # fmt: skip
    with selectors.DefaultSelector() as selector:
        for kept in (out, err):
            selector.register(kept.stream, selectors.EVENT_READ, kept)
        while True:
            if cancelled is not None and cancelled.is_set():
                return "cancelled"
            if watch is not None and (exceeded := watch.exceeded()) is not None:
                return exceeded
            left = deadline - time.monotonic()
            # Where both streams are closed, it is ending, or it goes on in silence.
            if not selector.get_map() and _over(child, min(left, _LOOK_SECONDS)):
                return "exit"
            if left <= 0:
                return "deadline"
            for key, _ in selector.select(min(left, _LOOK_SECONDS)) if selector.get_map() else ():
                if not key.data.read():
                    selector.unregister(key.fileobj)
            if out.over:
                return "output"


def _over(child: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether the child ends within `seconds`. It is not reaped, so that its group's number stays its own."""
    deadline = time.monotonic() + seconds
    pause = 0.001
    while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, _LOOK_SECONDS)
    return True


def _end(child: subprocess.Popen[bytes], *, gently: bool, grace: float) -> None:
    if gently:
        _signal_group(child.pid, signal.SIGTERM)
        _over(child, grace)
    # Always: what the child started may still run after the child itself has ended.
    _signal_group(child.pid, signal.SIGKILL)
    child.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return
    except PermissionError:
        # macOS answers so for a group whose only member has ended and is not reaped yet.
        return
