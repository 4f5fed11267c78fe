"""Files and links: past the services, and through /proc."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

World = dict[str, Any]


def read(path: str) -> str:
    with open(path, errors="replace") as file:
        return file.read(100_000)


def write(path: str, text: str = "changed") -> str:
    with open(path, "w") as file:
        file.write(text)
    return "done"


# --- plain ------------------------------------------------------------------------------------------------------------


def read_outside(context: Any, world: World) -> str:
    return read(world["secret"])


def read_by_descriptor(context: Any, world: World) -> str:
    handle = os.open(world["secret"], os.O_RDONLY)
    try:
        return os.read(handle, 1000).decode()
    finally:
        os.close(handle)


def read_through_dotdot(context: Any, world: World) -> str:
    return read(f"{context.data_folder}/../../../{os.path.relpath(world['secret'], world['root'])}")


def read_relative_to_a_folder(context: Any, world: World) -> str:
    """`os.open` tells an audit hook nothing of `dir_fd`: the hook takes the link for a file of the working folder."""
    folder = os.open(context.data_folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        handle = os.open("planted", os.O_RDONLY, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        return os.read(handle, 1000).decode()
    finally:
        os.close(handle)


def write_outside(context: Any, world: World) -> str:
    return write(world["target"])


def append_outside(context: Any, world: World) -> str:
    with open(world["target"], "a") as file:
        file.write("changed")
    return "done"


def make_outside(context: Any, world: World) -> str:
    os.mkdir(f"{world['outside']}/made")
    return "done"


def remove_outside(context: Any, world: World) -> str:
    os.remove(world["target"])
    return "done"


def rename_outside(context: Any, world: World) -> str:
    os.rename(world["target"], f"{world['target']}-moved")
    return "done"


def shorten_outside(context: Any, world: World) -> str:
    os.truncate(world["target"], 0)
    return "done"


def chmod_outside(context: Any, world: World) -> str:
    os.chmod(world["target"], 0o777)
    return "done"


def chown_outside(context: Any, world: World) -> str:
    os.chown(world["target"], os.getuid(), os.getgid())
    os.chmod(world["target"], 0o755)
    return "done"


def utime_outside(context: Any, world: World) -> str:
    os.utime(world["target"], ns=(1, 1))
    return "done"


def attribute_outside(context: Any, world: World) -> str:
    os.setxattr(world["target"], "user.evil", b"x")
    return "done"


def list_outside(context: Any, world: World) -> str:
    os.listdir(world["outside"])
    return "done"


def scan_outside(context: Any, world: World) -> str:
    with os.scandir(world["outside"]) as found:
        return "done" if list(found) else "nothing there"


def stat_outside(context: Any, world: World) -> str:
    """That a file is there, how large it is and when it changed: the kernel does not keep that."""
    os.stat(world["secret"])
    return "done"


def read_with_sqlite(context: Any, world: World) -> str:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("attach ? as other", (world["database"],))
        return str(connection.execute("select * from other.secrets").fetchall())
    finally:
        connection.close()


def write_with_sqlite(context: Any, world: World) -> str:
    """The C library opens the file: no event tells a hook."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("attach ? as other", (f"{world['outside']}/made",))
        connection.execute("create table other.t (a)")
        return "done"
    finally:
        connection.close()


def read_with_readline(context: Any, world: World) -> str:
    import readline

    readline.clear_history()
    readline.read_history_file(world["secret"])
    last = readline.get_current_history_length()
    found = " ".join(readline.get_history_item(index) or "" for index in range(1, last + 1))
    readline.clear_history()
    return found


def make_a_device(context: Any, world: World) -> str:
    os.mknod(f"{context.data_folder}/node", 0o600 | 0o010000)  # a FIFO
    return "done"


# --- what belongs to others -------------------------------------------------------------------------------------------


def read_own_grant(context: Any, world: World) -> str:
    return read(f"{world['home']}/grants.json")


def write_own_grant(context: Any, world: World) -> str:
    return write(f"{world['home']}/grants.json", "{}")


def read_the_token(context: Any, world: World) -> str:
    return read(f"{world['home']}/run.json")


def read_another_plugins_data(context: Any, world: World) -> str:
    return read(f"{world['home']}/data/good/secret")


def change_the_hosts_code(context: Any, world: World) -> str:
    """Open for appending and append nothing: that it can be opened is enough to know."""
    import yazcore

    with open(yazcore.__file__, "a"):
        return "done"


def change_own_code(context: Any, world: World) -> str:
    with open(__file__, "a"):
        return "done"


def leave_a_startup_file(context: Any, world: World) -> str:
    return write(f"{world['site']}/evil.pth", "import os\n")


# --- the project, past the services -----------------------------------------------------------------------------------


def read_the_project_itself(context: Any, world: World) -> str:
    return read(f"{world['project']}/.env")


def plant_a_git_hook_itself(context: Any, world: World) -> str:
    return write(f"{world['project']}/.git/hooks/pre-commit", "#!/bin/sh\n")


# --- links ------------------------------------------------------------------------------------------------------------


def link_in_the_data_folder(context: Any, world: World) -> str:
    link = f"{context.data_folder}/link"
    os.symlink(world["secret"], link)
    return read(link)


def hard_link_in_the_data_folder(context: Any, world: World) -> str:
    link = f"{context.data_folder}/hard"
    os.link(world["secret"], link)
    return read(link)


def follow_a_link_that_lies_there(context: Any, world: World) -> str:
    """The user has put a link out of the data folder."""
    return read(f"{context.data_folder}/planted")


def write_through_a_link_that_lies_there(context: Any, world: World) -> str:
    return write(f"{context.data_folder}/planted-target")


# --- /proc ------------------------------------------------------------------------------------------------------------


def proc_environ_of_the_host(context: Any, world: World) -> str:
    return read(f"/proc/{world['pid']}/environ")


def proc_memory_of_the_host(context: Any, world: World) -> str:
    with open(f"/proc/{world['pid']}/mem", "rb"):
        return "done"


def proc_memory_of_itself(context: Any, world: World) -> str:
    with open("/proc/self/mem", "r+b"):
        return "done"


def proc_root(context: Any, world: World) -> str:
    return read(f"/proc/self/root{world['secret']}")


def proc_descriptors_of_the_host(context: Any, world: World) -> str:
    found = []
    for name in os.listdir(f"/proc/{world['pid']}/fd"):
        target = os.readlink(f"/proc/{world['pid']}/fd/{name}")
        if target == world["secret"]:
            found.append(read(f"/proc/{world['pid']}/fd/{name}"))
    return " ".join(found)


def a_device(context: Any, world: World) -> str:
    with open("/dev/ptmx", "rb"):
        return "done"
