"""One application, served: the MCP server on, the user's own door open, `run.json` written; and all of it undone.

    async with anyio.create_task_group() as tasks:
        ready = await tasks.start(serving.run)      # ready.url, ready.token
        ...
        await serving.stop()

The order at the end is fixed: `run.json` goes, the listener is off, the user's door closes. Signals are the command's.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
import anyio.to_thread
import attrs

from yazcore.capabilities.context import ProjectFolder
from yazcore.control import announce, only_one, withdraw
from yazcore.control.door import Command, Control, Underway
from yazcore.gate import ProtocolFault, Report
from yazcore.host import Host
from yazcore.mcp.results import tool_result
from yazcore.mcp.surface import tool_object
from yazcore.permissions import OWNER, Principal
from yazcore.permissions.curation import Curation
from yazcore.permissions.lending import Lending
from yazcore.permissions.tokens import Tokens

if TYPE_CHECKING:
    from yazcore.mcp.listener import Address


class Serving:
    """What `yaz serve` and `yaz demo` run. `commands` are the application's own, beside those for every host.

    One application serves from a home folder: `run` sees to it (`control.only_one`), unless `alone` says that whoever
    calls has done so, before it opened its plugins. `curation`: which tools are there, for agents and for `yaz call`.
    """

    def __init__(
        self,
        host: Host,
        *,
        port: int = 0,
        commands: Mapping[str, Command] | None = None,
        alone: bool = False,
        curation: Curation | None = None,
    ) -> None:
        from yazcore.mcp.listener import Listener  # the SDK is loaded by whoever serves, not by whoever lists tools

        self._host = host
        curation = curation or Curation()
        self._user = curation.of(OWNER)
        self._lending = Lending(Tokens(host.home))
        self._listener = Listener(host, port=port, named=self._lending.principal_of, curation=curation)
        self._commands = dict(commands or {})
        self._alone = alone
        self._stop = anyio.Event()
        self._done = anyio.Event()

    async def run(self, *, task_status: anyio.abc.TaskStatus[Address] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until `stop`. Raises `YazError`: as `control.only_one`, and where the port cannot be had."""
        try:
            with contextlib.nullcontext() if self._alone else only_one(self._host.home):
                async with anyio.create_task_group() as tasks:
                    address = await tasks.start(self._listener.run)
                    await self._hold(address, task_status)
        finally:
            self._done.set()

    async def _hold(self, address: Address, task_status: anyio.abc.TaskStatus[Address]) -> None:
        """The MCP server is on: open the user's door, say so, wait, and undo all of it."""
        calls = _Calls(self._host, self._user, asyncio.get_running_loop())
        shared = commands_of(self._host, self._user, calls, self._request_stop())
        commands = {**shared, "lend": self._lend, **self._commands}
        control = Control({name: calls.ended_with_us(command) for name, command in commands.items()})
        control.start()
        try:
            announce(self._host.home, url=address.url, token=address.token, control=control)
            task_status.started(address)
            await self._stop.wait()
        finally:
            with anyio.CancelScope(shield=True):
                withdraw(self._host.home)
                await self._listener.stop()
                calls.end()
                await anyio.to_thread.run_sync(control.close)

    def _lend(self, arguments: dict[str, Any]) -> str:
        """The command `lend`: a token that stands for a named one, for the user's own programs (`yaz bridge --as`)."""
        return self._lending.lend(str(arguments["name"]))

    async def stop(self) -> None:
        """Stop serving, and wait until nothing is left."""
        self._stop.set()
        await self._done.wait()

    async def stopped(self) -> None:
        """Wait until serving has ended, whoever ended it."""
        await self._done.wait()

    def _request_stop(self) -> Callable[[], None]:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            loop.call_soon_threadsafe(self._stop.set)

        return stop


class _Calls:
    """The calls that come through the user's door: on the server's loop, and ended with the server."""

    def __init__(self, host: Host, user: Principal, loop: asyncio.AbstractEventLoop) -> None:
        self._host = host
        self._user = user
        self._loop = loop
        self._running: set[Future[Any]] = set()

    def start(self, arguments: dict[str, Any]) -> Underway:
        """The command `call`."""
        underway = Underway()
        future = asyncio.run_coroutine_threadsafe(
            call_json(
                self._host, str(arguments.get("name", "")), arguments.get("arguments", {}), underway.report, self._user,
                approved=arguments.get("approved") is True,
            ),
            self._loop,
        )
        return underway.of(future)

    def ended_with_us(self, command: Command) -> Command:
        """The same command; what of it is still under way when serving ends is cancelled."""

        def run(arguments: dict[str, Any]) -> Any:
            answer = command(arguments)
            if isinstance(answer, Underway):
                self._running.add(answer.future)
                answer.future.add_done_callback(self._running.discard)
            return answer

        return run

    def end(self) -> None:
        """Cancel what still runs; whoever waits for it is told."""
        for future in tuple(self._running):
            future.cancel()


def commands_of(host: Host, user: Principal, calls: _Calls, stop: Callable[[], None]) -> dict[str, Command]:
    """What the user's own commands may ask of a running application, whatever it is; `user` is who asks."""

    def stop_serving(arguments: dict[str, Any]) -> str:
        stop()
        return "stopping"

    return {
        "status": lambda arguments: {
            "plugins": len(host.catalogue.now.plugins),
            "tools": len(host.gate.tools(user)),
        },
        "plugins": lambda arguments: plugins_json(host, live=True),
        "tools": lambda arguments: tools_json(host, live=True, principal=user),
        "permissions": lambda arguments: permissions_json(host),
        "call": calls.start,
        "refresh": lambda arguments: refresh(host),
        "denials": lambda arguments: host.denials.of(str(arguments["plugin"])),
        "run": lambda arguments: run_command(host, arguments),
        "stop": stop_serving,
    }


def run_command(host: Host, arguments: Mapping[str, Any], project: ProjectFolder | None = None) -> Underway:
    """The command `run` of the user's door: it ends where whoever asked has gone."""
    underway = Underway()
    words = [str(word) for word in arguments.get("arguments", [])]
    plugin, name = str(arguments["plugin"]), str(arguments["name"])
    return underway.of(host.start_command(plugin, name, words, project, underway.report))


def refresh(host: Host) -> list[dict[str, Any]]:
    """Make what the user has decided and installed on disk so in the running application; gives the plugins' states.

    What was taken back, switched off or removed is taken out; what was granted, switched on or updated is activated;
    other settings and marks count. Raises `YazError` where the settings cannot be understood; then those before count.
    """
    host.servers.refresh()
    return [status.as_json() for status in host.refresh()]


def plugins_json(host: Host, live: bool) -> dict[str, Any]:
    """`yaz plugins --json` (design 9)."""
    return {
        "live": live,
        "plugins": [status.as_json() for status in host.plugins()],
        "skipped": [attrs.asdict(skipped) for skipped in host.skipped],
    }


def tools_json(host: Host, live: bool, principal: Principal = OWNER) -> dict[str, Any]:
    """`yaz tools --json` (design 9): the very objects of `tools/list`."""
    return {"live": live, "tools": [tool_object(tool) for tool in host.gate.tools(principal)]}


def permissions_json(host: Host) -> list[dict[str, str]]:
    """Every permission that can be granted now: `{"permission", "plugin", "description"}`, by name."""
    return sorted(
        (
            {"permission": one.action, "plugin": plugin_id, "description": active.text(one.description_key)}
            for plugin_id, active in host.catalogue.now.plugins.items()
            for one in active.manifest.permissions
        ),
        key=lambda one: one["permission"],
    )


async def call_json(
    host: Host,
    name: str,
    arguments: Any,
    report: Report | None = None,
    principal: Principal = OWNER,
    *,
    approved: bool = False,
) -> dict[str, Any]:
    """`yaz call` (design 9): the result object of `tools/call`, or `{"error": {"code", "message"}}`."""
    try:
        return tool_result(await host.gate.call_tool(principal, name, arguments, report, approved=approved))
    except ProtocolFault as fault:
        return {"error": {"code": fault.code, "message": fault.message}}
