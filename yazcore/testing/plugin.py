"""One plugin in a host of its own, and how a test talks to it."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
from anyio.from_thread import BlockingPortal, start_blocking_portal

from yazcore.capabilities.context import Call
from yazcore.capabilities.grants import RuntimeName
from yazcore.contract import Contract
from yazcore.granting import revoke
from yazcore.home import Home
from yazcore.host import Host
from yazcore.outcomes import Content, Outcome
from yazcore.permissions import OWNER, Principal
from yazcore.plugin_status import PluginStatus
from yazcore.testing.installing import installed
from yazcore.testing.settings import write_settings
from yazcore.violations import Difference, Violation, YazError, sentence

PROJECT_ID = "prj_testtesttest"
"""The id of the project in a test."""

COMMAND_SECONDS = 30.0
"""How long a plugin's command may take in a test."""


@attrs.frozen(kw_only=True)
class ProjectUnderTest:
    """The project of a test: a folder under the id `PROJECT_ID`."""

    id: str
    name: str
    root: Path


class PluginUnderTest:
    """One plugin, as `plugin_host` gives it.

    * `id`, `host`: the plugin's id, and the whole host for what is not here.
    * `project_id`: the id to pass as `projectId`, where a project was given.
    """

    def __init__(
        self,
        *,
        host: Host,
        plugin_id: str,
        violations: tuple[Violation, ...],
        project: ProjectUnderTest | None,
        principal: Principal,
        portal: BlockingPortal,
    ) -> None:
        self.id = plugin_id
        self.host = host
        self.project_id = PROJECT_ID
        self._project = project
        self._principal = principal
        self._portal = portal
        self._violations = violations

    @property
    def state(self) -> str:
        """`active`, or why not in one word: `refused`, `failed`, `held`, `disabled`."""
        return "refused" if self._status is None else self._status.state

    @property
    def violations(self) -> tuple[Violation, ...]:
        """What the manifest, or the distribution, breaks."""
        return self._violations if self._status is None else self._status.violations

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Where the manifest and what the hooks registered disagree."""
        return () if self._status is None else self._status.differences

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not active, where that is no violation and no difference: it raised, it is held."""
        return () if self._status is None else self._status.reasons

    @property
    def denials(self) -> list[dict[str, Any]]:
        """What the plugin tried and was refused so far, oldest first, as `yaz denials` shows it."""
        return self.host.denials.of(self.id)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        principal: Principal | None = None,
        approved: bool = True,
    ) -> Outcome:
        """Call one of its tools, by its own name, through the gate; as the owner unless another principal is given.

        `approved`: the test is the person who approves, where the tool asks for one; without, nobody is.

        Raises `ProtocolFault` for what is wrong as a request, and `YazError` `plugin-not-active`.
        """
        self._must_be_active()
        name = tool if "__" in tool else f"{self.id}__{tool}"
        who = principal if principal is not None else self._principal
        call = functools.partial(self.host.gate.call_tool, who, name, dict(arguments or {}), approved=approved)
        outcome: Outcome = self._portal.call(call)
        return outcome

    def read(self, uri: str, *, principal: Principal | None = None) -> Content:
        """Read one of its resources. Raises as `call` does."""
        self._must_be_active()
        who = principal if principal is not None else self._principal
        return self._portal.call(self.host.gate.read_resource, who, uri)

    def prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, principal: Principal | None = None
    ) -> str:
        """The text of one of its prompts, by its own name. Raises as `call` does."""
        self._must_be_active()
        who = principal if principal is not None else self._principal
        return self._portal.call(self.host.gate.get_prompt, who, f"{self.id}__{name}", dict(arguments or {})).text

    def command(self, command: str, *arguments: str) -> Any:
        """Run one of its commands, as `yaz run` does; gives what it returns and raises what it raises."""
        self._must_be_active()
        call = Call(posture="write", project=self._project, subject=self._project)
        future = self.host.call("commands", self.id, command, "handler", list(arguments), call=call)
        return future.result(COMMAND_SECONDS)

    def revoke(self, kind: str) -> tuple[str, ...]:
        """Take every capability of one kind back, as `yaz revoke` does; it counts from the next operation on."""
        active = self.host.catalogue.now.plugins.get(self.id)
        return revoke(self.host.grants, None if active is None else active.manifest, self.id, kind)

    @property
    def _status(self) -> PluginStatus | None:
        return next((status for status in self.host.plugins() if status.id == self.id), None)

    def _must_be_active(self) -> None:
        if self.state != "active":
            why = [*map(sentence, self.violations), *map(sentence, self.differences), *self.reasons]
            raise YazError("plugin-not-active", f"{self.id} is {self.state}: {'; '.join(why)}")


@contextlib.contextmanager
def plugin_host(
    target: str | os.PathLike[str],
    *,
    project: Path | None = None,
    places: Mapping[str, str | os.PathLike[str]] | None = None,
    settings: Mapping[str, str | bool | int | float] | None = None,
    with_optional: bool = False,
    runtime: RuntimeName = "trusted",
    shipped: bool = False,
    contract: Contract | None = None,
    resolve: Mapping[str, Callable[[str], Any]] | None = None,
    principal: Principal = OWNER,
    locale: str = "en-US",
) -> Iterator[PluginUnderTest]:
    """A host with one plugin, granted as `yaz grant` does it, in a home folder of its own.

    * `target`: the id of an installed plugin, or the folder of its project, installed or not.
    * `project`: a folder that is the project of calls with `plugin.project_id`.
    * `places`: the folder for each place that the manifest names.
    * `settings`: the user's values of its settings.
    * `with_optional`: grant what it marks as optional, too.
    * `runtime`: where its code runs: `trusted`, in this process, where a debugger and a coverage tool see it, or
      `isolated`, as it does for users.
    * `shipped`: it comes with the host application, so that it needs no grant; `target` is its package.
    * `contract`: the host's; None for that of yaz. `resolve`: what the ids of the contract's other scopes name.
    * `principal`: who calls, unless a call says otherwise. `locale`: the language of texts.

    A plugin that is refused is no error here: its `state`, `violations` and `differences` say why. Raises `YazError`
    for a target that is none, and for a place without a folder.
    """
    accepts = contract if contract is not None else _yaz()
    found = ProjectUnderTest(id=PROJECT_ID, name=project.name, root=project.resolve()) if project is not None else None
    with contextlib.ExitStack() as stack:
        home = Home(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="yaz-test-"))))
        plugin = stack.enter_context(
            installed(
                target, accepts, home, places=dict(places or {}), optional=with_optional, shipped=shipped,
                runtime=runtime,
            )
        )
        write_settings(home, plugin.id, settings or {})
        host = Host(
            accepts,
            home=home,
            builtin=plugin.builtin,
            resolve={"project": {PROJECT_ID: found}.get, **(resolve or {})},
            locale=locale,
            discover=not shipped,
            guard=True,
        )
        stack.callback(host.close)
        host.activate()
        yield PluginUnderTest(
            host=host,
            plugin_id=plugin.id,
            violations=plugin.violations,
            project=found,
            principal=principal,
            portal=stack.enter_context(start_blocking_portal()),
        )


def _yaz() -> Contract:
    from yazcore.writing.contract import YAZ

    return YAZ
