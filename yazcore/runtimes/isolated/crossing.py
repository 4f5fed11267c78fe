"""How errors and registrations cross the wire: as data, made anew on the other side from classes it knows itself.

Nothing that a worker says names a class, a module or a function here. An error that is not in the list arrives as a
text; a registration arrives as the fields of the class that the host expects from that hook, or as none.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from yazcore.capabilities.context import Frame
from yazcore.capabilities.errors import Cancelled, CapabilityError, NoContext, ServiceError
from yazcore.contributions import ToolError
from yazcore.runtimes.facade import LONGEST_TEXT, Failure
from yazcore.runtimes.values import Foreign, NotPortable, TooLarge, portable

_REASONS = ("not-declared", "not-granted", "out-of-scope", "service-unavailable")
_WORD = re.compile(r"[a-z0-9]{1,32}(-[a-z0-9]{1,32}){0,8}")
_BUILTIN = {kind.__name__: kind for kind in (TypeError, ValueError, LookupError, UnicodeError, RuntimeError, OSError)}

# --- errors -----------------------------------------------------------------------------------------------------------


def fault_of(error: BaseException, frame: Frame) -> tuple[str, list[Any]]:
    """What plugin code raised, as the name and value of an ERROR. To be called inside the plugin's frame.

    As in `handler_error`: a `ToolError` of any class keeps its text, refusals of services and values stay themselves,
    of everything else what is said of it stays.
    """
    if isinstance(error, ToolError):
        return "tool", [Failure.of(error, frame.plugin, frame.version, frame.where).message]
    kept = _parts(error)
    if kept is not None:
        return kept
    failure = Failure.of(error, frame.plugin, frame.version, frame.where)
    return "failure", [failure.type, failure.message, failure.trace]


def service_fault_of(error: Exception) -> tuple[str, list[Any]]:
    """What a service raised, as the name and value of an ERROR for the plugin."""
    kept = _parts(error)
    if kept is not None:
        return kept
    name = next((one.__name__ for one in type(error).__mro__ if one.__name__ in _BUILTIN), "RuntimeError")
    return "builtin", [name, _text(error)]


def _parts(error: BaseException) -> tuple[str, list[Any]] | None:
    if type(error) is CapabilityError:
        parts = [error.plugin, error.kind, error.reason, error.target, error.detail]
        return "capability", [_text(part) for part in parts]
    if type(error) is ServiceError:
        return "service", [_text(error.code), _text(error.message)]
    for name, kind in _PLAIN.items():
        if type(error) is kind:
            return name, [_text(error)]
    return None


_PLAIN: dict[str, type[Exception]] = {
    "no-context": NoContext,
    "cancelled": Cancelled,
    "too-large": TooLarge,
    "not-portable": NotPortable,
}


def error_from(name: str, value: Any, frame: Frame) -> Exception | Failure:
    """What an ERROR of a worker stands for: one of the errors that a handler may raise, or a `Failure`.

    Whatever is not as it must be is a failure of the plugin that `frame` names, and said to be one.
    """
    parts = value if type(value) is list and all(type(part) is str for part in value) else []
    match name, parts:
        case "tool", [text]:
            return ToolError(text[:LONGEST_TEXT])
        case "failure", [kind, message, trace]:
            return Failure(frame.plugin, frame.version, frame.where, kind[:200], message, trace)
    error = _kept(name, parts, plugin=frame.plugin)
    if error is not None:
        return error
    return Failure(
        frame.plugin, frame.version, frame.where, "WorkerFault", "its worker reported an error that is none", ""
    )


def service_error_from(name: str, value: Any) -> Exception:
    """What an ERROR of the host stands for, in a worker."""
    if name == "builtin":
        return _BUILTIN[value[0]](value[1])
    error = _kept(name, value, plugin=None)
    return error if error is not None else RuntimeError(f"the service answered with an unknown fault {name!r}")


def _kept(name: str, parts: list[str], plugin: str | None) -> Exception | None:
    """One of the errors that stay themselves. `plugin`: it can only be this one's refusal."""
    match name, parts:
        case "capability", [said, kind, reason, target, detail] if reason in _REASONS and _WORD.fullmatch(kind):
            return CapabilityError(plugin or said, kind, reason, target, detail)  # type: ignore[arg-type]
        case "service", [code, message] if _WORD.fullmatch(code):
            return ServiceError(code, message)
        case "no-context", [text]:
            return _with_text(NoContext(""), text)
        case ("cancelled" | "too-large" | "not-portable"), [text]:
            return _PLAIN[name](text)
    return None


def _with_text(error: Exception, text: str) -> Exception:
    error.args = (text,)
    return error


def _text(value: object) -> str:
    """A text that can be sent."""
    text = str(value)
    return text[:LONGEST_TEXT].encode("utf-8", "backslashreplace").decode()


# --- registrations ----------------------------------------------------------------------------------------------------

HANDLER = "handler"
"""What stands for a handler in a registration's fields: `{"handler": number}`."""


@attrs.frozen(eq=False)
class RemoteHandler:
    """What stands in a registration for code in a worker: the number under which that keeps it."""

    number: int

    def __call__(self, *args: Any) -> Any:
        """Refuse: its plugin runs it (`RunningPlugin.submit`)."""
        raise TypeError("a handler in a worker is run by its plugin, not called")


def class_name(kind: type) -> str:
    """The name under which both sides know a registration's class; it is compared, never looked up."""
    return f"{kind.__module__}:{kind.__qualname__}"


def sent(returned: Any, keep: Callable[[Any], int]) -> Any:
    """What a collecting hook returned, as data. `keep` takes a handler and gives its number."""
    if returned is None:
        return None
    if type(returned) not in (list, tuple):
        return {"foreign": type(returned).__name__}
    return [_registration(item, keep) for item in returned]


def _registration(item: Any, keep: Callable[[Any], int]) -> dict[str, Any]:
    if not attrs.has(type(item)):
        return {"foreign": type(item).__name__}
    fields = {field.name: _field(getattr(item, field.name), keep) for field in attrs.fields(type(item))}
    return {"class": class_name(type(item)), "name": type(item).__name__, "fields": fields}


def _field(value: Any, keep: Callable[[Any], int]) -> dict[str, Any]:
    if callable(value):
        return {HANDLER: keep(value)}
    try:
        return {"value": portable(value)}
    except NotPortable:
        return {"foreign": type(value).__name__}


def is_async(handler: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await; an instance whose `__call__` is async is meant, too."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__)


def received(value: Any, kind: type) -> Any:
    """The registrations of class `kind` that a worker's hook returned, made anew; `Foreign` for what is none."""
    if value is None:
        return None
    if type(value) is not list:
        return Foreign(_name(value, "foreign"))
    return [_made(item, kind) for item in value]


def _made(item: Any, kind: type) -> Any:
    if type(item) is not dict or "class" not in item:
        return Foreign(_name(item, "foreign"))
    if item["class"] != class_name(kind) or type(item.get("fields")) is not dict:
        return Foreign(_name(item, "name"))
    fields = attrs.fields(kind)
    if item["fields"].keys() != {field.name for field in fields}:
        return Foreign(kind.__name__)
    return kind(**{field.alias: _value(item["fields"][field.name]) for field in fields})


def _value(field: Any) -> Any:
    if type(field) is dict and type(field.get(HANDLER)) is int:
        return RemoteHandler(field[HANDLER])
    if type(field) is dict and "value" in field:
        try:
            return portable(field["value"])
        except NotPortable:
            return str(Foreign("value"))
    return str(Foreign(_name(field, "foreign")))


def _name(value: Any, key: str) -> str:
    """A class's name, for people: it only ever stands in a sentence."""
    name = value.get(key) if isinstance(value, Mapping) else None
    return name[:100] if isinstance(name, str) and name else "value"
