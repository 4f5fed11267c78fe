"""How a service refuses."""

from __future__ import annotations

from typing import Literal

Reason = Literal["not-declared", "not-granted", "out-of-scope", "service-unavailable"]
"""Why: a bug in the manifest; the user has not granted it; granted, but not for this target (Y-12); or the service
that would act is not there."""

_SENTENCES = {
    "not-declared": "the manifest declares no capability {kind!r}",
    "not-granted": "the user has not granted {kind!r}",
    "out-of-scope": "{kind!r} is granted, but not for this",
    "service-unavailable": "no service for {kind!r} is available here",
}


class NoContext(RuntimeError):
    """A service was used where no plugin's context is set: outside a hook, a handler, or a thread made by it.

    It never falls back to the host's own powers (design 5). Use `context.run_in_thread` for threads of your own.
    """

    def __init__(self, service: str) -> None:
        super().__init__(
            f"the service {service!r} was used outside the plugin's context: call it from a hook, a handler, "
            "or a thread started with context.run_in_thread"
        )


class CapabilityError(PermissionError):
    """The broker refused. `plugin`, `kind` and `reason` may be shown; `target` is for the author and `yaz denials`."""

    def __init__(self, plugin: str, kind: str, reason: Reason, target: str = "", detail: str = "") -> None:
        super().__init__(f"{plugin}: {_SENTENCES[reason].format(kind=kind)}{': ' + detail if detail else ''}")
        self.plugin = plugin
        self.kind = kind
        self.reason: Reason = reason
        self.target = target
        self.detail = detail

    @property
    def public_text(self) -> str:
        """What an agent may read: plugin, kind, reason and where to look, never the target (design 7)."""
        return (
            f"{self.plugin} may not do this: {self.kind}, {self.reason}. "
            f"The user can see what was tried with: yaz denials {self.plugin}"
        )


class ServiceError(Exception):
    """A service could not do what was allowed: a stable code (`file-not-found`, `files-changed`) and a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Cancelled(Exception):
    """The call was cancelled or ran over its deadline: the next service call, `progress` or `check` says so."""
