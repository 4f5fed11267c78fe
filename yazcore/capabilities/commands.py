"""Which program a command's name means: found when the user consents, and held to that file (Y-18; capabilities E).

A name is looked up in the system's own folders, never in the working folder, a project, an environment of Python or a
plugin's folder; the user can name another file. What is found is kept as its real path and a digest of its content, and
looked at again before each run.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import stat
from pathlib import Path

import attrs

from yazcore.violations import YazError

SYSTEM_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")
"""Where commands are looked up, in this order."""

INTERPRETERS = frozenset({
    "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "pwsh", "rbash", "sh", "tcsh",
    "toybox", "xonsh", "yash", "zsh", "awk", "bun", "clojure", "deno", "elixir", "erl", "expect", "gawk", "ghci",
    "groovy", "guile", "java", "jshell", "julia", "lua", "luajit", "m4", "mawk", "nawk", "node", "nodejs", "octave",
    "osascript", "perl", "php", "pypy", "python", "r", "racket", "rscript", "ruby", "sbcl", "scala", "sed", "sqlite",
    "tclsh", "ts-node", "wish", "cargo", "cmake", "conda", "go", "gradle", "just", "make", "meson", "mvn", "ninja",
    "npm", "npx", "pip", "pipx", "pnpm", "poetry", "rake", "scons", "uv", "uvx", "yarn", "at", "chroot", "cpio",
    "doas", "env", "find", "flock", "gdb", "ionice", "lldb", "nice", "nohup", "nsenter", "parallel", "pkexec",
    "runuser", "screen", "script", "setarch", "setpriv", "setsid", "start-stop-daemon", "stdbuf", "strace", "su",
    "sudo", "systemd-run", "tar", "taskset", "time", "timeout", "tmux", "unshare", "watch", "xargs", "dc", "ed",
    "emacs", "ex", "less", "man", "more", "nano", "nvim", "rvim", "vi", "view", "vim", "vimdiff", "docker", "git",
    "hg", "kubectl", "nc", "ncat", "podman", "rsync", "scp", "sftp", "socat", "ssh", "svn", "ld", "ld-linux",
    "ld-linux-x86-64", "ld-linux-aarch64", "ld-musl-x86_64", "ld-musl-aarch64",
})  # fmt: skip
"""Commands that do whatever their arguments, or what they are given to read, say; people are told so.

Without the version that a name may end with. A list of names is never whole: what a command may do is bounded by its
sandbox, not by this.
"""

ABSENT = "there is no program"
OPEN_TO_ALL = "everybody on this machine could replace it"
CHANGED = "the program has changed since it was granted"

_VERSION = re.compile(r"[-_]?[0-9]+[a-z]?$")
_DIGITS = 32


@attrs.frozen(kw_only=True)
class Program:
    """One file that a command's name means: its real path, and a digest of its content."""

    path: str
    digest: str

    def __str__(self) -> str:
        """The program as a grant keeps it."""
        return f"{self.digest} {self.path}"

    @classmethod
    def of(cls, text: str) -> Program | None:
        """The program that a grant keeps as this text, or None where it is none."""
        digest, _, path = text.partition(" ")
        fits = len(digest) == _DIGITS and set(digest) <= set("0123456789abcdef") and path.startswith("/")
        return cls(path=path, digest=digest) if fits else None

    def why_not(self) -> str:
        """Why it may not be run now (`ABSENT`, `OPEN_TO_ALL`, `CHANGED`), or the empty text where it may."""
        found = at(self.path)
        if isinstance(found, str):
            return found
        return "" if found == self else CHANGED


def runs_anything(name: str, path: str) -> bool:
    """Whether a command is one of `INTERPRETERS`, by its own name or by that of the file which it really is.

    `python3.11` is Python, and so is whatever name stands for `/usr/bin/python3.11`.
    """
    return any(not INTERPRETERS.isdisjoint(_bare(one)) for one in (name, os.path.basename(path)))


def _bare(name: str) -> tuple[str, str]:
    """A program's name, and the same without its version: `perl5.36.0`, `node-18`, `vim.basic`."""
    stem = name.casefold().partition(".")[0]
    return stem, _VERSION.sub("", stem)


def look_up(name: str) -> Program | None:
    """The program of that bare name in the system's folders, or None where there is none that may be granted."""
    for folder in SYSTEM_FOLDERS:
        found = at(f"{folder}/{name}")
        if isinstance(found, Program):
            return found
    return None


def chosen(name: str, path: str) -> Program:
    """The program that the user names for a command. Raises `YazError` `command-unfit`."""
    found = at(str(Path(path).expanduser().absolute()))
    if isinstance(found, str):
        raise YazError("command-unfit", f"{path!r} cannot be {name}: {found}", "name the file of a program")
    return found


def at(path: str) -> Program | str:
    """The program at a path, its links followed, or why there is none that may be run."""
    real = os.path.realpath(path)
    try:
        status = os.stat(real)
        if not stat.S_ISREG(status.st_mode) or not os.access(real, os.X_OK):
            return ABSENT
        if status.st_mode & stat.S_IWOTH or _is_open_to_others(real):
            return OPEN_TO_ALL
        return Program(path=real, digest=_digest(real, status.st_ino, status.st_mtime_ns, status.st_size))
    except OSError:
        return ABSENT


def _is_open_to_others(path: str) -> bool:
    """Whether a folder on the way lets everybody put something else in place of the file."""
    for folder in Path(path).parents:
        mode = os.stat(folder).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return True
    return False


@functools.lru_cache(maxsize=128)
def _digest(path: str, inode: int, changed: int, size: int) -> str:
    """The digest of a file's content; read again when anything about the file has changed."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
