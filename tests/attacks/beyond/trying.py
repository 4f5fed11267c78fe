"""Trying attacks from the outside: a host in a child process, a world around it, and the verdict."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import attrs

import yazcore
from tests.attacks.beyond.attack import NO_WIRE, OPEN, Attack, Runtime
from tests.attacks.beyond.world import SECRET, World, world
from yazcore import remove_tree

CHECKOUT = Path(yazcore.__file__).parents[1]
PATIENCE_SECONDS = 9.0
"""How long a host under attack may take to answer before it counts as hung."""

_LATER = frozenset({"swallow_the_cancellation"})
_READING = frozenset({
    "another_method_in_a_reading_call", "change_a_credential_in_a_reading_call", "a_command_in_a_reading_call",
    "write_in_a_reading_call", "the_widest_of_its_open_calls", "the_method_in_a_header", "another_plugins_frame",
})  # fmt: skip
_FOR_EVER = frozenset({
    "a_command_that_stays", "busy_for_ever", "swallow_the_cancellation", "hold_the_interpreter", "hang_without_a_word",
})  # fmt: skip


WARM_UP = Attack(name="nothing", family="", proof="did", trusted="", isolated="")


@attrs.frozen
class Tried:
    """What came of one attack: `OPEN`, or why it did not work."""

    name: str
    outcome: str


class HostUnderAttack:
    """A child process with a host in it; a new one where the last is of no use any more."""

    def __init__(self, runtime: Runtime, around: World) -> None:
        self._runtime = runtime
        self._world = around
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def ask(self, attack: Attack, close: bool) -> dict[str, Any] | None:
        """What the host answered; None where it died, or did not answer in time. `close`: it is closed afterwards."""
        process = self._living()
        tool = "attack-later" if attack.name in _LATER else "attack-reading" if attack.name in _READING else "attack"
        line = json.dumps({"name": attack.name, "tool": tool, "world": self._world.told, "close": close})
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(line + "\n")
            process.stdin.flush()
        return self._line(PATIENCE_SECONDS)

    def closed(self) -> bool:
        """Whether the host could be closed in order afterwards."""
        return self._line(PATIENCE_SECONDS) is not None

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            self._process = None

    def _living(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self.end()
            environment = {
                "PATH": os.environ["PATH"], "HOME": str(self._world.folder), "PYTHONPATH": str(CHECKOUT),
                "YAZ_ATTACK_SECRET": SECRET, "PYTHONDONTWRITEBYTECODE": "1",
            }  # fmt: skip
            log = (self._world.folder / f"{self._runtime}.log").open("a")
            with log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.attacks.beyond.attacked", self._runtime, str(self._world.folder)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, cwd=CHECKOUT,
                    start_new_session=True,
                )  # fmt: skip
            assert self._process.stdout is not None
            self._listen(self._process.stdout)
        return self._process

    def _line(self, seconds: float) -> dict[str, Any] | None:
        try:
            text = self._lines.get(timeout=seconds)
        except queue.Empty:
            return None
        found: dict[str, Any] | None = json.loads(text) if text.strip() else None
        return found

    def _listen(self, said: IO[str]) -> None:
        lines = self._lines = queue.SimpleQueue()

        def listen() -> None:
            with contextlib.suppress(ValueError):  # it was closed meanwhile
                for line in said:
                    lines.put(line)
            lines.put("")

        threading.Thread(target=listen, daemon=True).start()


def outcomes(attacks: Sequence[Attack], runtime: Runtime) -> Iterator[Tried]:
    """Try each attack in that runtime, one after the other, in a world of their own."""
    with (
        tempfile.TemporaryDirectory(prefix="yaz-attacks-", ignore_cleanup_errors=True) as folder,
        world(Path(folder).resolve()) as around,
    ):
        host = HostUnderAttack(runtime, around)
        try:
            host.ask(WARM_UP, close=False)  # what a host writes in its home folder is there, then
            for attack in attacks:
                yield Tried(attack.name, _tried(host, around, attack, runtime))
                around.mend()
        finally:
            host.end()
            remove_tree(around.folder / "home" / "data")  # an attack that was ended leaves more than Python can remove


def _tried(host: HostUnderAttack, around: World, attack: Attack, runtime: Runtime) -> str:
    around.look()
    ends = attack.spoils or attack.proof == "dies"
    flips, secret = around.folder / "project" / "flips", around.folder / "outside" / "secret"
    meanwhile: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if attack.name == "a_link_that_changes":
        meanwhile = _flipping(flips, secret)
    elif attack.name == "a_secret_that_comes_while_a_command_runs":
        begun = around.folder / "home" / "data" / "evil" / "begun"
        meanwhile = _putting(around.folder / "project" / "sub" / ".env", begun)
    with meanwhile:
        answer = host.ask(attack, close=ends)
    if answer is None:
        host.end()
        return OPEN if attack.proof == "dies" else "its host died"
    worked = _worked(attack, answer, around)
    if attack.spoils and runtime == "trusted":
        host.end()
    elif ends and not host.closed():
        host.end()
        worked = worked or attack.proof == "dies"
    return OPEN if worked else _reason(answer)


def _worked(attack: Attack, answer: dict[str, Any], around: World) -> bool:
    said = str(answer.get("said", ""))
    if not answer["fine"]:
        return True
    match attack.proof:
        case "says":
            return SECRET in said
        case "did":
            return said == "done"
        case "world":
            return bool(_changes(around))
    return attack.name in _FOR_EVER and _still_beats(Path(around.told["beat"]))


def _changes(around: World) -> list[str]:
    """What is not as it was; something may still be on its way."""
    deadline = time.monotonic() + 0.1
    while not (found := around.differs()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _still_beats(beat: Path) -> bool:
    """Whether what should have ended goes on: in 4 seconds there were not 2 without a beat.

    A worker whose call is overdue may run on for a moment before it is ended, so one more beat proves nothing.
    """
    with contextlib.suppress(OSError):
        last, since = beat.read_text(), time.monotonic()
        deadline = since + 4
        while time.monotonic() < deadline:
            if (now := beat.read_text()) != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > 2:
                return False
            time.sleep(0.05)
        return True
    return False


def _reason(answer: dict[str, Any]) -> str:
    """Why it did not work, in the words that are compared."""
    if "raised" in answer:
        raised = str(answer["raised"])
        return NO_WIRE if raised == "NoWire" else raised
    if "said" in answer:
        return "no harm"
    if "it sent a frame that is no message" in str(answer.get("why", "")):
        return "worker ended: it sent a frame that is no message"  # how it is none, the library says as it likes
    if why := str(answer.get("why", "")).removeprefix("its worker was ended: "):
        return f"worker ended: {why}" if "its worker" in str(answer["why"]) else why
    return "overdue" if "did not" in answer["text"] or "longer" in answer["text"] else str(answer["text"])


@contextlib.contextmanager
def _putting(secret: Path, begun: Path) -> Iterator[None]:
    """Somebody who puts a secret into the project as soon as a file says that the command has begun."""
    over = threading.Event()

    def put() -> None:
        while not begun.exists():
            if over.wait(0.01):
                return
        secret.write_text(SECRET)

    begun.unlink(missing_ok=True)
    putting = threading.Thread(target=put)
    putting.start()
    try:
        yield
    finally:
        over.set()
        putting.join()


@contextlib.contextmanager
def _flipping(path: Path, secret: Path) -> Iterator[None]:
    """A process that turns a file into a link to the secret and back, for as long as the block lasts."""
    code = (
        "import os, sys\n"
        "path, secret = sys.argv[1:]\n"
        "while True:\n"
        "    os.symlink(secret, path + '.new')\n"
        "    os.rename(path + '.new', path)\n"
        "    with open(path + '.new', 'w') as file: file.write('its own')\n"
        "    os.rename(path + '.new', path)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path), str(secret)])
    try:
        yield
    finally:
        process.kill()
        process.wait()
        path.with_name("flips.new").unlink(missing_ok=True)
