"""A confined process: what it can still do, and what it cannot, each really tried in a process of its own."""

from __future__ import annotations

import json
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from yazcore.confinement.landlock import landlock_version

CHECKOUT = str(Path(__file__).parents[2])
CONFINED = """
import sys
sys.path.insert(0, {checkout!r})
import array, ctypes, fcntl, json, os, signal, socket, sqlite3, struct, tempfile, threading
from yazcore.confinement.process import Policy, confine
from yazcore.confinement.system import attempt, prctl
from yazcore.confinement.syscalls import MACHINES
import platform
N = MACHINES[platform.machine()].numbers
PARENT = os.getppid()
socket.socketpair()[0].close()
held = confine(Policy(read=[{read!r}, "/dev/urandom"], write=[{write!r}, "/dev/null"], landlock={landlock}))
def call(name, *arguments):
    answer = attempt(N[name], *arguments)
    if answer < 0:
        raise OSError(-answer, name)
    return answer
def tried(what):
    try:
        value = eval(what)
        return "done" if value is None or not isinstance(value, (str, bytes, int)) else str(value)
    except OSError as error:
        return __import__("errno").errorcode[error.errno]
    except BaseException as error:
        return type(error).__name__
print(json.dumps([tried(one) for one in json.loads(sys.argv[1])]))
"""


def confined(folder: Path, *attempts: str, landlock: int | None = None) -> list[str]:
    for name in ("in", "out"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "secret").write_text("secret")
    (folder / "in" / "file").write_text("inside")
    (folder / "in" / "link").symlink_to(folder / "secret")
    code = CONFINED.format(
        checkout=CHECKOUT, read=str(folder / "in"), write=str(folder / "out"), landlock=landlock
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(attempts)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_it_works_in_its_own_folders(tmp_path: Path) -> None:
    attempts = {
        "open('in/file').read()": "inside",
        "open('out/new', 'w').write('abc')": "3",
        "os.mkdir('out/a'), os.mkdir('out/b'), open('out/a/x', 'w').close()": "done",
        "os.rename('out/a/x', 'out/b/x'), os.remove('out/b/x')": "done",
        "sqlite3.connect('out/db').execute('pragma journal_mode = wal').fetchone()[0]": "wal",
        "tempfile.TemporaryFile(dir='out').write(b'x')": "1",
        "open('/dev/null', 'w').write('x')": "1",
        "len(os.urandom(8))": "8",
        "socket.socketpair()[0].close()": "done",
        "threading.Thread(target=print, args=('',), kwargs={'file': open('/dev/null', 'w')}).start()": "done",
        "os.kill(os.getpid(), 0)": "done",
        "os.truncate(os.open('out/new', os.O_RDWR), 1)": "done",
        "fcntl.lockf(open('out/new', 'w'), fcntl.LOCK_EX)": "done",
        "os.fsync(os.open('out/new', os.O_RDWR))": "done",
    }
    assert confined(tmp_path, *attempts) == list(attempts.values())


ESCAPES = {
    "open('secret')": "EACCES",
    "open('in/link')": "EACCES",
    "open('in/../secret')": "EACCES",
    "open('/etc/passwd')": "EACCES",
    "open('in/file', 'w')": "EACCES",
    "open('in/new', 'w')": "EACCES",
    "os.listdir('.')": "EACCES",
    "open('/proc/self/environ')": "EACCES",
    "open(f'/proc/{PARENT}/mem')": "EACCES",
    "os.symlink('secret', 'out/link')": "EACCES",
    "os.mkfifo('out/pipe')": "EPERM",
    "os.chmod('in/file', 0)": "EPERM",
    "os.fchmod(os.open('in/file', os.O_RDONLY), 0)": "EPERM",
    "os.chown('in/file', 1, 1)": "EPERM",
    "os.utime('in/file')": "EPERM",
    "os.utime(os.open('in/file', os.O_RDONLY))": "EPERM",
    "os.setxattr('in/file', 'user.x', b'1')": "EPERM",
    "os.setxattr(os.open('in/file', os.O_RDONLY), 'user.x', b'1')": "EPERM",
    "fcntl.ioctl(os.open('in/file', os.O_RDONLY), 0x40086602, b'12345678')": "EPERM",
    "fcntl.fcntl(os.open('in/file', os.O_RDONLY), 1024, 0)": "EPERM",
    "fcntl.fcntl(os.open('in', os.O_RDONLY), 1026, 1)": "EPERM",
    "socket.socket()": "EPERM",
    "socket.socket(socket.AF_UNIX)": "EPERM",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)": "EPERM",
    "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)": "EPERM",
    "socket.socketpair()[0].sendto(b'x', '/run/socket')": "EPERM",
    "os.fork()": "EPERM",
    "os.posix_spawn('/bin/true', ['true'], {})": "EPERM",
    "os.execv('/bin/true', ['true'])": "EPERM",
    "call('clone3', None, 0)": "ENOSYS",
    "call('io_uring_setup', 1, None)": "ENOSYS",
    "os.kill(PARENT, 0)": "EPERM",
    "os.kill(0, 0)": "EPERM",
    "os.kill(-1, 0)": "EPERM",
    "call('tkill', PARENT, 0)": "EPERM",
    "call('tgkill', PARENT, PARENT, 0)": "EPERM",
    "signal.pidfd_send_signal(0, 0)": "EPERM",
    "os.pidfd_open(PARENT)": "EPERM",
    "fcntl.fcntl(socket.socketpair()[0], 8, PARENT)": "EPERM",
    "fcntl.ioctl(socket.socketpair()[0], 0x8901, struct.pack('i', PARENT))": "EPERM",
    "os.setpriority(os.PRIO_PROCESS, PARENT, 10)": "EPERM",
    "os.sched_setaffinity(PARENT, {0})": "EPERM",
    "call('prlimit64', PARENT, 7, None, None)": "EPERM",
    "call('ptrace', 16, PARENT, 0, 0)": "EPERM",
    "call('process_vm_readv', PARENT, None, 0, None, 0, 0)": "EPERM",
    "call('unshare', 0x10000000)": "EPERM",
    "prctl(1, 0)": "EPERM",
    "prctl(4, 1)": "EPERM",
    "os.memfd_create('x')": "EPERM",
    "call('shmget', 1, 1, 0o1000)": "EPERM",
    "call('keyctl', 0, 0)": "EPERM",
    "call('bpf', 0, None, 0)": "EPERM",
    "call('seccomp', 1, 0, None)": "EPERM",
    "call('inotify_init1', 0)": "EPERM",
    "call('sync')": "EPERM",
    "call('syncfs', os.open('in', os.O_RDONLY))": "EPERM",
    "attempt(470)": "-38",
    "attempt(100000)": "-38",
    "os.setuid(12345)": "EPERM",
    "os.chroot('out')": "EPERM",
    "bytearray(1 << 30)": "MemoryError",
    "os.truncate('in/file', 0)": "EACCES",
}


@pytest.mark.parametrize("version", [one for one in (1, 2, 3, 4, 5, 6, 7) if one <= landlock_version()])
def test_it_gets_out_nowhere_whatever_version_of_landlock_holds_it(tmp_path: Path, version: int) -> None:
    expected = dict(ESCAPES)
    if version < 3:
        expected["os.truncate('in/file', 0)"] = "EPERM"
    found = dict(zip(expected, confined(tmp_path, *expected, landlock=version), strict=True))
    assert found == expected
    assert (tmp_path / "in" / "file").read_text() == "inside"


OTHER_CALLS = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
getpid = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only this machine has calls of two kinds")
def test_the_system_calls_of_32_bits_are_the_end_of_it(tmp_path: Path) -> None:
    def ended(head: str) -> int:
        code = f"import os, sys; sys.path.insert(0, {CHECKOUT!r}); {OTHER_CALLS}{head}; print(getpid() == os.getpid())"
        return subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False).returncode

    held = "from yazcore.confinement.process import Policy, confine; confine(Policy())"
    assert ended("pass") in (0, -signal.SIGSEGV)  # there they work, or the kernel has none of them
    assert ended(held) == -signal.SIGSYS


def test_a_large_file_ends_at_the_limit(tmp_path: Path) -> None:
    attempts = ("os.lseek(os.open('out/big', os.O_RDWR | os.O_CREAT), 0, 0)", "os.truncate('out/big', 3 << 30)")
    assert confined(tmp_path, *attempts)[1] == "EFBIG"


def test_open_files_are_bounded(tmp_path: Path) -> None:
    attempt = "[open('/dev/null') for _ in range(300)]"
    assert confined(tmp_path, attempt) == ["EMFILE"]
