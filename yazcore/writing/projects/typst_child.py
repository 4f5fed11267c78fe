"""The child in which the Typst compiler runs: reads a job, confines itself, compiles, says what happened.

Run by file, `python -I -S -B typst_child.py < job`: no site-packages hook, environment variable or file of the project
takes part in its start. Everything is imported before it confines itself, so afterwards it needs nothing but the
project, the build folder and the packages. Limits of the operating system come first: Typst itself knows none, and an
allocation that fails ends the process.

Job (JSON on standard input): `entry`, `output`, `fonts`, `packages`, `read`, `write`, `paths` (for imports),
`memory`, `fileSize` (bytes), `processor` (seconds), `confine`, `parent` (the host's process).

Answer (two lines of JSON on standard output): before it compiles `{"sandbox": "landlock" | "none"}`, so that
this is known of a run that is killed, and then `succeeded`, `error` (`{"message", "text"}` or null), `failure`
(what came instead of a compiler's report, or null), `warnings` (`[{"message", "text"}]`), `cut` (some was over the
bounds).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from typing import Any

_PR_SET_PDEATHSIG = 1
# In bytes of UTF-8. All of it together has to fit into one value for the format, and, with every character escaped,
# into what the host keeps of standard output: else a document in Chinese would lose its PDF to its warnings.
_MOST_TEXT = 262_144
_MOST_MESSAGE = 131_072
_MOST_WARNING = 2_048
_MOST_IN_WARNINGS = 262_144
_MOST_WARNINGS = 500


def main() -> None:
    """Do the job on standard input and write the answer to standard output."""
    answer_to = os.dup(1)
    os.dup2(2, 1)
    job = json.load(sys.stdin)
    _end_with(job["parent"])
    _limit(job)
    sys.path.extend(job["paths"])
    import typst

    from yazcore import restrict_files

    # Typst keeps to its root by comparing names, so a link inside a project leads out of it (typst/typst#5454).
    confined = job["confine"] and restrict_files(read=job["read"], write=job["write"]) > 0
    with os.fdopen(answer_to, "w", encoding="utf-8") as stream:
        about = {"sandbox": "landlock" if confined else "none"}
        print(json.dumps(about), file=stream, flush=True)
        print(json.dumps(_compile(typst, job), ensure_ascii=False), file=stream)


def _end_with(parent: int) -> None:
    """Die when the host does: nobody would stop a compilation that nobody waits for."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the host has gone")


def _limit(job: dict[str, Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for what, most in (
        (resource.RLIMIT_AS, job["memory"]),
        (resource.RLIMIT_FSIZE, job["fileSize"]),
        (resource.RLIMIT_CPU, job["processor"]),
    ):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most, most) if hard == resource.RLIM_INFINITY else (min(most, hard), hard))


def _compile(typst: Any, job: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"succeeded": False, "error": None, "failure": None, "warnings": [], "cut": False}
    try:
        _, warnings = typst.compile_with_warnings(
            job["entry"],
            output=job["output"],
            root=".",
            font_paths=job["fonts"],
            ignore_system_fonts=True,
            package_path=job["packages"],
            package_cache_path=job["packages"],
        )
    except typst.TypstError as error:
        text = _first(error.diagnostic, _MOST_TEXT)
        answer["error"] = {"message": _first(error.message, _MOST_MESSAGE), "text": text}
        answer["cut"] = text != error.diagnostic
    except BaseException as error:  # noqa: BLE001 - RuntimeError, OSError, and its panics, which are no Exception
        answer["failure"] = _first(f"{type(error).__name__}: {error}", _MOST_WARNING)
    else:
        answer["succeeded"] = True
        answer["warnings"] = kept = _kept(warnings)
        answer["cut"] = len(warnings) > len(kept)
    return answer


def _kept(warnings: list[Any]) -> list[dict[str, str]]:
    """The first warnings, as many as fit."""
    kept: list[dict[str, str]] = []
    left = _MOST_IN_WARNINGS
    for warning in warnings[:_MOST_WARNINGS]:
        told = {"message": _first(warning.message, _MOST_WARNING), "text": _first(warning.diagnostic, _MOST_WARNING)}
        left -= sum(len(text.encode()) for text in told.values())
        if left < 0:
            break
        kept.append(told)
    return kept


def _first(text: str, most: int) -> str:
    """The beginning of a text: so many bytes of UTF-8, or a little less."""
    data = text.encode()
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")


if __name__ == "__main__":
    main()
