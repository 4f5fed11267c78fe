"""Host: what an embedding application holds. It finds plugins, decides who may run, activates, and answers calls.

    host = Host(contract, own=Own(folder, make), builtin=[folder, ...], resolve={"project": projects.get})
    host.activate()
    host.hook.decorate(console=...)             # the host's own hookspecs, through pluggy's relay
    await host.gate.call_tool(principal, name, arguments)
    host.close()

A host has no process-wide effect: no signal handler, no logging set-up, no audit hook.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from yazcore.activation import Activated, Activation, Failed, Refused, Unconfined
from yazcore.audit import Audit
from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import Call, Context, Frame, ProjectFolder, current, no_progress
from yazcore.capabilities.denials import DenialLog
from yazcore.capabilities.errors import Cancelled, CapabilityError, NoContext, ServiceError
from yazcore.capabilities.grants import Grants
from yazcore.capabilities.secrets import Secrets
from yazcore.capabilities.services.data_folder import QUOTA, DataFolder
from yazcore.capabilities.standing import granted_set
from yazcore.catalogue import Catalogue
from yazcore.contract import Contract
from yazcore.contributions import ToolError
from yazcore.declarations import MAX_RESULT
from yazcore.departures import Running, There, departures, waiting
from yazcore.first_use import AskUser, FirstUse
from yazcore.gate import Approve, Gate, Report
from yazcore.granting import commit, plan
from yazcore.home import Home
from yazcore.installed import Installed, survey
from yazcore.kinds import Request
from yazcore.listeners import Listeners
from yazcore.manifest.checking import check
from yazcore.manifest.discovery import Skipped
from yazcore.manifest.messages import Messages
from yazcore.marks import read_marks
from yazcore.mcp import help as catalogue_help
from yazcore.mcp.client.servers import Servers
from yazcore.permissions import OWNER, Decision, GrantsOf, Permits, Principal
from yazcore.plugin_context import make_context, setting_violations, settings_of
from yazcore.plugin_folders import plugin_folders
from yazcore.plugin_status import NOT_POSSIBLE, PluginStatus
from yazcore.results import ResultStore
from yazcore.runtimes.abandoned import MOST_STUCK, Abandoned
from yazcore.runtimes.base import Confining, HandlerFailed, PluginSource, RunningPlugin, Runtime
from yazcore.runtimes.following import following
from yazcore.runtimes.own_path import clashes
from yazcore.runtimes.trusted import TrustedRuntime
from yazcore.runtimes.values import NotPortable
from yazcore.violations import Violation, YazError, errors

if TYPE_CHECKING:
    import pluggy

    from yazcore.runtimes.watching import Watch

COMMAND_SECONDS = 600.0
"""How long a contributed command may take, in seconds."""


CLOSE_SECONDS = 2.0
"""How long the running calls of a plugin may still take when the host closes, in seconds."""


@attrs.frozen(kw_only=True)
class Own:
    """The host's own plugin: its manifest's folder, and how to make the object.

    Its id is the contract's `host`; its tools are declared, compared, listed and gated like anyone's, and only their
    names carry no prefix (design 6).
    """

    folder: Path
    make: Callable[[Context], object]


class Host:
    """One host application: its plugins, its catalogue, its gate.

    * `contract`: what it accepts of a plugin.
    * `home`: where grants, settings, data and logs are kept; None for the user's own (`YAZ_HOME`).
    * `own`: the host's own plugin, if it has one.
    * `builtin`: package folders of plugins that ship with it; same manifest, same hooks, no privilege.
    * `resolve`: per scope kind, the function that gives what an id names, or None; a scope kind may say it itself.
    * `permits`: whether a principal may do something, asked on each call, where grants are kept elsewhere (in the
      application's own database); None: the grants that each principal carries.
    * `grants_of`: what that database has of a principal, for `permissions_document`; it decides nothing. Without it the
      document says which rights it cannot list.
    * `locale`: the language of what people and models read, fixed here.
    * `discover`: whether installed plugins are looked for, those in folders of their own (`yaz install`) included.
    * `ask`: asks the user for what a plugin declares as optional, at its first use; None: it is refused then.
    * `guard`: whether an audit hook of this process watches trusted plugins for accidents (`runtimes.watching`): an
      effect on the whole process, and no boundary.
    """

    def __init__(
        self,
        contract: Contract,
        *,
        home: Home | None = None,
        own: Own | None = None,
        builtin: Sequence[Path] = (),
        resolve: Mapping[str, Callable[[str], Any]] | None = None,
        permits: Permits | None = None,
        grants_of: GrantsOf | None = None,
        locale: str = "en-US",
        discover: bool = True,
        ask: AskUser | None = None,
        approve: Approve | None = None,
        guard: bool = False,
    ) -> None:
        self.contract = contract
        self.home = home if home is not None else Home()
        self.grants = Grants(self.home)
        self.denials = DenialLog(self.home)
        self.secrets = Secrets(self.home)
        self.catalogue = Catalogue()
        self.results = ResultStore()
        self.changes: Listeners[[str]] = Listeners()
        self.servers = Servers(self.home, self.secrets)
        self.audit = Audit(self.home)
        self.locale = locale
        self._own = own
        self._builtin = tuple(builtin)
        self._discover = discover
        self._ask = ask
        self._guard = guard
        self._runtimes: dict[str, Runtime] = {"trusted": TrustedRuntime(guard)}
        self._activation = Activation(contract, self.catalogue)
        self._brokers: dict[str, Broker] = {}
        self._status: dict[str, PluginStatus] = {}
        self._settings: dict[str, Mapping[str, Any]] = {}
        self._running: dict[str, Running] = {}
        self._abandoned = Abandoned()
        self._lock = threading.RLock()
        self.skipped: tuple[Skipped, ...] = ()
        self._decision = Decision(
            kinds=contract.scope_kinds, everyone=contract.everyone, permits=permits, grants_of=grants_of
        )
        self.gate = Gate(
            contract=contract,
            catalogue=self.catalogue,
            resolve=dict(resolve or {}),
            decision=self._decision,
            results=self.results,
            audit=self.audit,
            approve=approve,
            stuck=self._note_abandoned,
        )

    @property
    def hook(self) -> pluggy.HookRelay:
        """pluggy's relay over every active plugin: the host's own hookspecs are called here, guarded alike."""
        return self._activation.manager.hook

    # --- plugins --------------------------------------------------------------------------------------------------

    def activate(self) -> tuple[PluginStatus, ...]:
        """Activate everything that is installed and allowed; what is not is reported, and the others go on.

        The user's marks on tools count from here on. Raises `YazError` `mark-broken` where they cannot be understood.
        """
        self.catalogue.mark(read_marks(self.home.settings()))
        found, self.skipped = self._survey()
        for installed in found:
            if self._runs_elsewhere(installed):
                self.deactivate(installed.id, "allowed", "it starts again in another runtime")
        with self._lock:
            active = self.catalogue.now.plugins
            for plugin_id in self._status.keys() - {one.id for one in found} - active.keys():
                del self._status[plugin_id]
            for installed in found:
                plugin_id = installed.id
                if plugin_id in active:
                    waits = waiting(self._running[plugin_id], _there(installed), installed.status().update)
                    self._status[plugin_id] = attrs.evolve(self._status[plugin_id], update=waits)
                else:
                    self._running[plugin_id] = Running(
                        folder=installed.folder, runtime=installed.runtime, origin=installed.origin
                    )
                    self._status[plugin_id] = self._activate(installed)
        return self.plugins()

    def refresh(self) -> tuple[PluginStatus, ...]:
        """Make what the user has decided and installed since so, his settings included (`take_settings`)."""
        self._take_out_departed()
        self.take_settings()
        return self.plugins()

    def _take_out_departed(self) -> None:
        there = {one.id: _there(one) for one in self._survey()[0]}
        running = {plugin_id: self._running[plugin_id] for plugin_id in self.catalogue.now.plugins}
        for one in departures(running, there, {grant.plugin: grant for grant in self.grants.all()}):
            self.deactivate(one.plugin, one.state, one.reason)

    def plugins(self) -> tuple[PluginStatus, ...]:
        """Every plugin that was found, with its state, by id."""
        known = self._status.copy()  # another thread may be activating
        return tuple(known[plugin_id] for plugin_id in sorted(known))

    def grant(
        self,
        plugin_id: str,
        *,
        trusted: bool = False,
        places: Mapping[str, str] | None = None,
        commands: Mapping[str, str] | None = None,
        optional: bool = False,
        kinds: Sequence[str] = (),
    ) -> PluginStatus:
        """Grant a plugin what it asks for, in the user's name, and activate it: isolated, unless it is `trusted`.

        `places` binds the manifest's places to folders, `commands` names programs; what was chosen before stays. With
        `kinds`, only these are granted, beside what is. Raises `YazError` as `granting.plan` does, and `grant-changed`
        where another decides something about the plugin at this moment. No path from an agent leads here.
        """
        found, self.skipped = self._survey()
        installed = next((one for one in found if one.id == plugin_id), None)
        if installed is None:
            known = ", ".join(one.id for one in found)
            raise YazError(
                "unknown-plugin", f"no plugin {plugin_id!r} is installed", f"installed are {known or 'none'}"
            )
        planned = plan(
            installed.to_grant, self.grants.get(plugin_id), trusted=trusted, places=places or {},
            commands=commands or {}, optional=optional, kinds=kinds, isolation=self._why_not_isolated,
        )  # fmt: skip
        commit(self.grants, planned)
        self._take_out_departed()
        self.activate()
        return self._status[plugin_id]

    def switch(self, plugin_id: str, on: bool) -> None:
        """Switch a plugin on or off; its grant is kept."""
        self.grants.set_enabled(plugin_id, on)
        if on:
            self.activate()
        else:
            self.deactivate(plugin_id, "disabled", "it is switched off")

    def take_settings(self) -> None:
        """Take the user's settings as they are on disk now: a plugin whose own have changed starts anew with them.

        Raises `YazError` where they cannot be understood; then those before still count.
        """
        read_marks(self.home.settings())
        for plugin_id, active in self.catalogue.now.plugins.items():
            if settings_of(active.manifest, self.home) != self._settings.get(plugin_id):
                self.deactivate(plugin_id, "allowed", "it starts anew with other settings")
        self.activate()

    def deactivate(
        self, plugin_id: str, state: str = "disabled", reason: str = "", patience: float = math.inf
    ) -> None:
        """Take a plugin out. Its names leave first, running calls end or are cut at their deadline, then it unloads.

        `patience` is how many seconds the calls have at most.
        """
        with self._lock:
            gone = self._activation.withdraw(plugin_id)
            status = self._status.get(plugin_id)
            if status is not None:
                status = attrs.evolve(status, state=state, reasons=(reason,) if reason else ())
                self._status[plugin_id] = status
        problem = None if gone is None else self._activation.unload(gone, patience)
        with self._lock:
            if problem is not None and status is not None and self._status[plugin_id] is status:
                self._status[plugin_id] = attrs.evolve(status, reasons=(*status.reasons, problem))

    def close(self) -> None:
        """Take every plugin out, the host's own last. What still runs has `CLOSE_SECONDS`."""
        order = sorted(self.catalogue.now.plugins, key=lambda plugin_id: plugin_id == self.contract.host)
        for plugin_id in order:
            self.deactivate(plugin_id, patience=CLOSE_SECONDS)
        for runtime in self._runtimes.values():
            runtime.close()
        self.gate.close()
        self.servers.close()
        self.audit.close()

    # --- calls ----------------------------------------------------------------------------------------------------

    def call(self, key: str, plugin: str, name: str, field: str, *args: Any, call: Call) -> Future[Any]:
        """Run one handler of one active contribution in its plugin's context (a format's `outline`, a command).

        Raises `YazError` `not-active` where the plugin is not active or registered no such handler, and
        `NotPortable` for arguments that are no plain data.
        """
        active = self.catalogue.now.plugins.get(plugin)
        if active is None:
            raise YazError("not-active", f"{plugin} is not active", f"yaz show {plugin} says why, if it is installed")
        try:
            future: Future[Any] = active.running.submit(key, name, field, call, *args)
        except (KeyError, RuntimeError):  # RuntimeError: it was taken out a moment ago
            raise YazError(
                "not-active", f"{plugin} has no {name!r} among its {key}", f"yaz show {plugin} says what it has"
            ) from None
        return future

    def run_command(
        self,
        plugin: str,
        command: str,
        arguments: Sequence[str],
        project: ProjectFolder | None = None,
        report: Report = no_progress,
    ) -> str | None:
        """Run a contributed command for the user, and give the text it returns; as `start_command`, but waiting.

        Whatever ends the wait (Ctrl-C) ends the command too.
        """
        future = self.start_command(plugin, command, arguments, project, report)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def start_command(
        self,
        plugin: str,
        command: str,
        arguments: Sequence[str],
        project: ProjectFolder | None = None,
        report: Report = no_progress,
    ) -> Future[str | None]:
        """Begin a contributed command for the user; the future has the text it returns. Cancelling it ends the command.

        It runs as `write`, for the owner, in the given project, for at most `COMMAND_SECONDS`; `report(done, total,
        message)` takes its progress, from any thread. Raises `YazError` `not-active`, `command-arguments`; the future
        raises `command-failed`, `command-refused`, `command-overdue`; a crash is kept under a reference (`yaz log
        REF`).
        """
        call = Call(
            posture="write", principal=OWNER, project=project, deadline=time.monotonic() + COMMAND_SECONDS,
            allows=lambda action, scope: action in self.catalogue.now.actions, report=report,
        )  # fmt: skip
        try:
            running = self.call("commands", plugin, command, "handler", list(arguments), call=call)
        except NotPortable as error:
            raise YazError("command-arguments", f"the arguments cannot be passed on: {error}") from None
        return following(running, call, COMMAND_SECONDS, lambda: self._text_of(running, plugin, command))

    def _text_of(self, running: Future[Any], plugin: str, command: str) -> str | None:
        """What a command that has ended, or is overdue, came to. Raises `YazError`."""
        try:
            text = running.result(0)
        except ToolError as error:
            raise YazError("command-failed", str(error)) from None
        except CapabilityError as error:
            raise YazError("command-refused", error.public_text) from None
        except ServiceError as error:
            raise YazError("command-failed", error.message) from None
        except FutureTimeout:
            raise YazError("command-overdue", f"{command} did not end in {COMMAND_SECONDS:.0f} seconds") from None
        except (Cancelled, CancelledError):
            raise YazError("command-failed", f"{command} was stopped") from None
        except (HandlerFailed, NotPortable, NoContext) as error:
            reference = self.audit.crash(**self._crash_of(plugin, command, error))
            raise YazError(
                "command-failed", f"{command} failed inside {plugin}", f"yaz log {reference} says why"
            ) from None
        return None if text is None else str(text)

    def _crash_of(self, plugin: str, command: str, error: Exception) -> dict[str, str]:
        if isinstance(error, HandlerFailed):
            return attrs.asdict(error.failure)
        return {
            "plugin": plugin, "version": self._status[plugin].version, "where": f"commands {command}",
            "type": type(error).__name__, "message": str(error), "trace": "",
        }  # fmt: skip

    def granted(self, plugin: str, request: Request) -> bool:
        """Whether the plugin's declared and granted capabilities cover the request; nothing is recorded."""
        broker = self._brokers.get(plugin)
        return broker is not None and broker.allows(request)

    def require(self, plugin: str, request: Request, where: str) -> None:
        """Have the broker decide on what the host is about to do for a plugin, outside any call of it.

        `where` says to the user what that is, in the record of a refusal. Raises `CapabilityError`.
        """
        broker = self._brokers.get(plugin)
        if broker is None:
            raise YazError("not-active", f"{plugin} is not active", f"yaz show {plugin} says why, if it is installed")
        frame = Frame(plugin=plugin, version=broker.version, where=where, call=Call(posture="read"))
        broker.require(request, frame)

    def may(self, principal: Principal, action: str, scope: str = "global", scope_id: str | None = None) -> bool:
        """Whether the principal may do `action` there now: what the gate decides, without a call.

        `scope_id` is a canonical id; None with a scope other than `global` asks about every scope of that kind.
        """
        return self._decision.may(principal, action, scope, scope_id, self.catalogue.now.actions)

    def changed(self, uri: str) -> None:
        """Say that a resource reads differently now: whoever subscribed to it, and may read it, is told. Any thread."""
        self.changes.tell(uri)

    # --- what an agent may look up ---------------------------------------------------------------------------------

    def help(self, topic: str | None = None) -> dict[str, Any]:
        """The tools in short, or one in full, as the caller of this moment may know them (S-38, object-shaped)."""
        own = self.catalogue.now.tools.get("help")
        budget = own.declaration.max_result if own is not None and own.own else MAX_RESULT
        return catalogue_help.help_for(self.gate.tools(self._asking()), topic, min(budget, MAX_RESULT))

    def tools_document(self) -> dict[str, Any]:
        """Every tool in full: `yaz://tools` (S-40)."""
        return catalogue_help.tools_document(self.gate.tools(self._asking()))

    def permissions_document(self) -> dict[str, Any]:
        """Who asks, and what they may do: `yaz://permissions` (S-41)."""
        asking, actions = self._asking(), self.catalogue.now.actions
        decision = self._decision
        everywhere = decision.everywhere(asking, actions, actions)
        return catalogue_help.permissions_document(
            asking, actions, everywhere, decision.granted(asking), decision.unlisted(asking)
        )

    def _asking(self) -> Principal:
        frame = current.get()
        if frame is None or frame.call.principal is None:
            return Principal(name="nobody")
        return frame.call.principal

    # --- inside ---------------------------------------------------------------------------------------------------

    def _survey(self) -> tuple[tuple[Installed, ...], tuple[Skipped, ...]]:
        return survey(
            self.contract,
            self.grants,
            own=None if self._own is None else self._own.folder,
            builtin_folders=self._builtin,
            discover_installed=self._discover,
            plugin_folders=plugin_folders(self.home) if self._discover else {},
        )

    def _activate(self, installed: Installed) -> PluginStatus:
        status = installed.status()
        manifest = installed.manifest
        if installed.state != "allowed" or manifest is None:
            return status
        problems = errors(check(manifest, installed.folder, self.contract))
        problems += setting_violations(manifest, self.home)
        if installed.runtime == "trusted":
            problems += clashes(installed.folders)
        if manifest.provides.formats and installed.origin == "installed":
            problems.append(
                Violation(
                    "format-not-open", "formats are open to shipped plugins only, until their interface is settled",
                    "leave provides.formats out", "/provides/formats",
                )
            )  # fmt: skip
        if problems:
            return attrs.evolve(status, state="refused", violations=(*status.violations, *problems))
        try:
            context, self._brokers[manifest.id] = make_context(
                manifest,
                installed.folder,
                home=self.home,
                granted=lambda: granted_set(manifest, self.grants.get(manifest.id), installed.origin),
                denials=self.denials,
                results=self.results,
                changed=self.changes.tell,
                servers=self.servers,
                locale=self.locale,
                runtime=installed.runtime,
                services_of_host=self.contract.services,
                ask=None if self._ask is None else FirstUse(self._ask, self.grants, installed, self.locale),
            )
            used = DataFolder(folder=context.data_folder).used()
        except (OSError, ServiceError) as error:  # a plugin can spoil its own data folder
            unusable = error.strerror if isinstance(error, OSError) else error.message
            reason = f"its data folder cannot be used: {unusable}"
            return attrs.evolve(status, state="failed", reasons=(reason,))
        if used > QUOTA:
            too_much = f"its data folder holds {used} bytes, more than the {QUOTA} it may hold"
            reason = f"{too_much}: delete what is not needed there"
            return attrs.evolve(status, state="failed", reasons=(reason,))
        self._settings[manifest.id] = dict(context.settings)
        source = PluginSource(
            manifest=manifest,
            folder=installed.folder,
            context=context,
            contract=self.contract,
            make=self._own.make if installed.origin == "own" and self._own is not None else None,
            folders=installed.folders,
            watch=self._watch_of(installed, context),
            failed=self._plugin_failed,
        )
        runtime = self._runtime(installed.runtime)
        messages = Messages(manifest.locales_in(installed.folder), self.locale)
        outcome = self._activation.activate(
            source,
            runtime,
            texts={key: messages.text(key) for key, _ in manifest.message_keys()},
            own=installed.origin == "own",
            origin=installed.origin,
        )
        match outcome:
            case Activated():
                return attrs.evolve(status, state="active", confinement=runtime.confinement)
            case Unconfined():
                reason = f"it is to run isolated, which this system cannot do: {outcome.reason}"
                return attrs.evolve(
                    status, state="held", reasons=(reason,), confinement=f"{NOT_POSSIBLE}: {outcome.reason}"
                )
            case Refused():
                return attrs.evolve(
                    status,
                    state="refused",
                    differences=outcome.differences,
                    violations=(*status.violations, *outcome.violations),
                )
            case Failed():
                why: tuple[str, ...] = ()
                if outcome.failure is not None:
                    why = (f"yaz log {self.audit.crash(**attrs.asdict(outcome.failure))} says why",)
                return attrs.evolve(status, state="failed", reasons=(outcome.message, *why))

    def _runtime(self, name: str) -> Runtime:
        """The runtime of that name. What a worker needs is loaded with the first plugin that runs in one."""
        runtime = self._runtimes.get(name)
        if runtime is None:
            from yazcore.runtimes.isolated.runtime import IsolatedRuntime

            runtime = self._runtimes["isolated"] = IsolatedRuntime()
        return runtime

    def _why_not_isolated(self) -> str | None:
        runtime = self._runtime("isolated")
        assert isinstance(runtime, Confining)
        return runtime.why_not()

    def _runs_elsewhere(self, installed: Installed) -> bool:
        """Whether the user has chosen another runtime for a plugin since it was activated."""
        status = self._status.get(installed.id)
        if status is None or installed.id not in self.catalogue.now.plugins or installed.state != "allowed":
            return False
        return status.runtime != installed.runtime

    def _plugin_failed(self, running: RunningPlugin, reason: str) -> None:
        """Take out a plugin that cannot go on, unless another life of it has begun meanwhile."""
        for plugin_id, active in self.catalogue.now.plugins.items():
            if active.running is running:
                self.deactivate(plugin_id, "failed", reason)

    def _watch_of(self, installed: Installed, context: Context) -> Watch | None:
        """What watches a plugin in this process, where the host wants that; never the host's own, which is the host."""
        if not self._guard or installed.origin == "own" or installed.runtime != "trusted":
            return None
        from yazcore.runtimes.watching import Watch

        return Watch(self._brokers[installed.id], (installed.folder, *installed.folders), context.data_folder)

    def _note_abandoned(self, plugin_id: str, future: Future[Any]) -> None:
        stuck = self._abandoned.note(plugin_id, future)
        if stuck > MOST_STUCK:
            reason = f"{stuck} calls that nobody waited for any more did not end"
            # Not in the caller's thread: taking a plugin out waits for its onunload.
            threading.Thread(target=self.deactivate, args=(plugin_id, "failed", reason), daemon=True).start()


def _there(installed: Installed) -> There:
    return There(version=installed.version, folder=installed.folder, state=installed.state)
