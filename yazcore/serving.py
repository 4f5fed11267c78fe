"""One application, served: the MCP server on, the user's own door open, `run.json` written; and all of it undone.

    async with anyio.create_task_group() as tasks:
        ready = await tasks.start(serving.run)      # ready.url, ready.token
        ...
        await serving.stop()

The order at the end is fixed: `run.json` goes, the listener is off, the user's door closes. Signals are the command's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread
import attrs

from yazcore.control import Command, Control, announce, running, withdraw
from yazcore.gate import Outcome, ProtocolFault
from yazcore.granting import revoke
from yazcore.host import Host
from yazcore.mcp.listener import Address, Listener
from yazcore.mcp.results import tool_result
from yazcore.mcp.surface import tool_object
from yazcore.permissions import OWNER, Principal
from yazcore.violations import YazError


class Serving:
    """What `yaz serve` and `yaz demo` run. `commands` are the application's own, beside those for every host."""

    def __init__(self, host: Host, *, port: int = 0, commands: Mapping[str, Command] | None = None) -> None:
        self._host = host
        self._listener = Listener(host, port=port)
        self._commands = dict(commands or {})
        self._stop = anyio.Event()
        self._done = anyio.Event()

    async def run(self, *, task_status: anyio.abc.TaskStatus[Address] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until `stop`. Raises `YazError` `already-running` where another process serves from this home."""
        home = self._host.home
        if (other := await anyio.to_thread.run_sync(running, home)) is not None:
            raise YazError(
                "already-running", f"a yaz is running already (process {other.pid})", "stop it with: yaz stop"
            )
        loop = asyncio.get_running_loop()
        control = Control({**commands_of(self._host, loop, self._request_stop(loop)), **self._commands})
        try:
            async with anyio.create_task_group() as tasks:
                address = await tasks.start(self._listener.run)
                control.start()
                try:
                    announce(home, url=address.url, token=address.token, control=control)
                    task_status.started(address)
                    await self._stop.wait()
                finally:
                    with anyio.CancelScope(shield=True):
                        withdraw(home)
                        await self._listener.stop()
                        await anyio.to_thread.run_sync(control.close)
        finally:
            self._done.set()

    async def stop(self) -> None:
        """Stop serving, and wait until nothing is left."""
        self._stop.set()
        await self._done.wait()

    async def stopped(self) -> None:
        """Wait until serving has ended, whoever ended it."""
        await self._done.wait()

    def _request_stop(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        def stop() -> None:
            loop.call_soon_threadsafe(self._stop.set)

        return stop


def commands_of(host: Host, loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> dict[str, Command]:
    """What the user's own commands may ask of a running application, whatever it is."""

    def call(arguments: dict[str, Any]) -> dict[str, Any]:
        future = asyncio.run_coroutine_threadsafe(
            host.gate.call_tool(OWNER, str(arguments.get("name", "")), arguments.get("arguments", {})), loop
        )
        return outcome_json(future)

    def revoke_plugin(arguments: dict[str, Any]) -> dict[str, Any]:
        plugin_id, kind = str(arguments["plugin"]), arguments.get("kind")
        active = host.catalogue.now.plugins.get(plugin_id)
        denied = revoke(host.grants, None if active is None else active.manifest, plugin_id, kind)
        if kind is None and active is not None:
            host.deactivate(plugin_id, "held", "its grant was taken back")
        return {"denied": list(denied)}

    def run_command(arguments: dict[str, Any]) -> str | None:
        return host.run_command(
            str(arguments["plugin"]), str(arguments["name"]), [str(word) for word in arguments.get("arguments", [])]
        )

    def stop_serving(arguments: dict[str, Any]) -> str:
        stop()
        return "stopping"

    def switch(arguments: dict[str, Any]) -> str:
        host.switch(str(arguments["plugin"]), bool(arguments["on"]))
        return "switched"

    return {
        "status": lambda arguments: {
            "plugins": len(host.catalogue.now.plugins),
            "tools": len(host.catalogue.now.tools),
        },
        "plugins": lambda arguments: plugins_json(host, live=True),
        "tools": lambda arguments: tools_json(host, live=True),
        "call": call,
        "refresh": lambda arguments: [status.as_json() for status in host.activate()],
        "revoke": revoke_plugin,
        "switch": switch,
        "run": run_command,
        "stop": stop_serving,
    }


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


def outcome_json(future: Any) -> dict[str, Any]:
    """`yaz call` (design 9): the result object of `tools/call`, or `{"error": {"code", "message"}}`."""
    try:
        outcome: Outcome = future.result()
    except ProtocolFault as fault:
        return {"error": {"code": fault.code, "message": fault.message}}
    return tool_result(outcome)
