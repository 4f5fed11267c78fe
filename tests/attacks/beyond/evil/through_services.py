"""Through the services: paths, links, hosts, commands, postures, credentials. The plugin holds `fs-project` (write),
`net` for one host, `process` for one command, and `credential`."""

from __future__ import annotations

import base64
import contextvars
import os
from typing import Any

World = dict[str, Any]


def path_with_dotdot(context: Any, world: World) -> str:
    return str(context.files.read_text("../outside/secret"))


def path_that_is_absolute(context: Any, world: World) -> str:
    return str(context.files.read_text(world["secret"]))


def path_through_a_link(context: Any, world: World) -> str:
    return str(context.files.read_text("link-out"))


def path_through_a_linked_folder(context: Any, world: World) -> str:
    return str(context.files.read_text("folder-out/secret"))


def write_through_a_link(context: Any, world: World) -> str:
    context.files.write_text("link-target", "changed")
    return "done"


def path_of_proc(context: Any, world: World) -> str:
    return str(context.files.read_text("/proc/self/environ"))


def secret_of_the_project(context: Any, world: World) -> str:
    return str(context.files.read_text(".env"))


def secret_in_other_letters(context: Any, world: World) -> str:
    for name in (".ENV", ".e\u200bnv", ".env.", ".Git/config", ".git\u200d/config"):
        try:
            return str(context.files.read_text(name))
        except Exception as error:
            last = error
    raise last


def git_hook(context: Any, world: World) -> str:
    context.files.write_text(".git/hooks/pre-commit", "#!/bin/sh\n")
    return "done"


def git_hook_in_other_letters(context: Any, world: World) -> str:
    context.files.write_text(".GIT/hooks/pre-commit", "#!/bin/sh\n")
    return "done"


def a_file_that_others_run(context: Any, world: World) -> str:
    context.files.write_text("sub/conftest.py", "changed")
    return "done"


def a_pipe_that_hangs(context: Any, world: World) -> str:
    return str(context.files.read_text("pipe"))


def a_link_that_changes(context: Any, world: World) -> str:
    """Another process turns a file into a link and back, as fast as it can (TOCTOU)."""
    for _ in range(400):
        try:
            text = str(context.files.read_text("flips"))
        except Exception:
            continue
        if "secret" in text:
            return text
    return "only its own"


def copy_through_a_link(context: Any, world: World) -> str:
    copies = context.files.copy(["link-out"])
    return (context.data_folder / copies["link-out"]).read_text()


def the_applications_own_files(context: Any, world: World) -> str:
    return str(context.files.read_text(f"{world['home']}/grants.json"))


def another_host(context: Any, world: World) -> str:
    context.network.get(f"http://127.0.0.1:{world['http']}/")
    return "done"


def a_host_that_looks_alike(context: Any, world: World) -> str:
    for url in (
        f"http://localhost:{world['http']}@127.0.0.1:{world['http']}/",
        f"http://localhost.evil.test:{world['http']}/",
        f"http://2130706433:{world['http']}/",
        f"http://[::ffff:127.0.0.1]:{world['http']}/",
        f"http://localhost%2eevil:{world['http']}/",
        f"http://localhost:{world['other-http']}/",
    ):
        try:
            context.network.get(url, seconds=2)
            return "done"
        except Exception as error:
            last = error
    raise last


def a_redirect_elsewhere(context: Any, world: World) -> str:
    context.network.get(f"http://localhost:{world['http']}/redirect", seconds=2)
    return "done"


def a_header_that_smuggles(context: Any, world: World) -> str:
    context.network.get(f"http://localhost:{world['http']}/", headers={"X": "a\r\n\r\nDELETE /x HTTP/1.1"})
    return "done"


def another_method_in_a_reading_call(context: Any, world: World) -> str:
    context.network.post(f"http://localhost:{world['http']}/")
    return "done"


def the_method_in_a_header(context: Any, world: World) -> str:
    context.network.get(f"http://localhost:{world['http']}/", headers={"X-HTTP-Method-Override": "DELETE"})
    return "done"


def see_the_credential(context: Any, world: World) -> str:
    """The server repeats what it was sent."""
    answer = context.network.get(f"http://localhost:{world['http']}/echo", credential="key", seconds=2)
    return str(answer["body"]) + str(answer["headers"])


def see_the_credential_in_other_letters(context: Any, world: World) -> str:
    """A server that repeats it in another form gives it away: the user has granted that server."""
    answer = context.network.get(f"http://localhost:{world['http']}/echo64", credential="key", seconds=2)
    return base64.b64decode(answer["body"]).decode()


def the_credential_elsewhere(context: Any, world: World) -> str:
    answer = context.network.get(f"http://localhost:{world['http']}/redirect", credential="key", seconds=2)
    return str(answer["body"])


def methods_of_the_credentials(context: Any, world: World) -> str:
    """What is behind the service: in the host's own process, everything."""
    return str(contextvars.Context().run(context.credentials._secrets.of, "evil/key"))


def change_a_credential_in_a_reading_call(context: Any, world: World) -> str:
    context.credentials.keep("key", "mine")
    return "done"


def another_command(context: Any, world: World) -> str:
    context.processes.run("sh", ["-c", f"echo changed > {world['target']}"])
    return "done"


def a_command_in_a_reading_call(context: Any, world: World) -> str:
    context.processes.run("env", [])
    return "done"


def a_command_that_writes_outside(context: Any, world: World) -> str:
    """`env` runs whatever it is told; the sandbox holds all of it."""
    ended = context.processes.run("env", ["sh", "-c", f"echo changed > {world['target']}; echo $?"])
    return str(ended["stdout"])


def a_command_that_reads_outside(context: Any, world: World) -> str:
    ended = context.processes.run("env", ["cat", world["secret"]])
    return str(ended["stdout"])


def a_command_that_plants_a_hook(context: Any, world: World) -> str:
    script = "echo x > .git/hooks/pre-commit; echo $?"
    return str(context.processes.run("env", ["sh", "-c", script], folder="project")["stdout"])


def a_command_that_connects(context: Any, world: World) -> str:
    code = f"import socket; socket.create_connection(('127.0.0.1', {world['tcp']})).sendall(b'evil')"
    return str(context.processes.run("env", [world["python"], "-c", code])["stderr"])


def a_command_that_stays(context: Any, world: World) -> str:
    """What it leaves behind ends with it."""
    loop = f"while :; do date +%s%N > {world['data-beat']}; sleep 0.02; done"
    context.processes.run("env", ["sh", "-c", f"({loop}) > /dev/null 2>&1 & sleep 0.2"])
    return "done"


def a_secret_that_comes_while_a_command_runs(context: Any, world: World) -> str:
    """A folder that holds no secret is opened whole; the user puts one there when the command has begun."""
    script = (
        f"touch begun; for i in $(seq 200); do cat '{world['project']}/sub/.env' 2>/dev/null && break; sleep 0.02; done"
    )
    return str(context.processes.run("env", ["sh", "-c", script])["stdout"])


def a_command_that_multiplies(context: Any, world: World) -> str:
    """The host under attack allows 24 processes, so that nothing has to suffer."""
    script = "exec > /dev/null 2>&1; for i in $(seq 60); do sleep 9 & done; wait"
    context.processes.run("env", ["sh", "-c", script], seconds=9)
    return "done"


def a_command_that_takes_all_memory(context: Any, world: World) -> str:
    """No process by itself takes much: the host under attack allows 128 MiB for all of them together."""
    script = "exec > /dev/null 2>&1; for i in 1 2; do dd if=/dev/zero bs=80M count=1 | sleep 9 & done; wait"
    context.processes.run("env", ["sh", "-c", script], seconds=9)
    return "done"


def write_in_a_reading_call(context: Any, world: World) -> str:
    context.files.write_text("new.txt", "changed")
    return "done"


def damage_inside_the_grant(context: Any, world: World) -> str:
    """What is granted can be spoiled: that is what the grant says."""
    context.files.write_text("notes.md", "changed")
    return "done"


def flood_of_denials(context: Any, world: World) -> str:
    """Nobody else's records are pushed out, and the file stays bounded."""
    for _ in range(300):
        try:
            context.files.read_text(f"../{'x' * 900}")
        except PermissionError:
            continue
    return str(os.getpid())


def a_flood_of_exports(context: Any, world: World) -> str:
    """Nobody else's exports are pushed out, of the same caller's either."""
    for _ in range(300):
        context.publish(b"x", "text/plain", 900)
    try:
        context.publish(bytes(60 * 2**20), "text/plain", 900)
    except Exception as error:
        return f"{error}"
    return str(os.getpid())
