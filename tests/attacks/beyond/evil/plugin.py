"""Tools that run an attack by its name; what it raised is told as a word, so that reasons can be compared."""

from __future__ import annotations

import errno
import importlib
from typing import Any

from yazcore import Cancelled, CapabilityError, NoContext, ServiceError, Tool, hookimpl

MODULES = ("files", "inside", "others", "resources", "through_services", "wire")


def reason(error: BaseException) -> str:
    """Why an attack did not work, in a word or three."""
    if isinstance(error, CapabilityError):
        return f"{error.kind} {error.reason}"
    if isinstance(error, ServiceError):
        return error.code
    if isinstance(error, OSError) and error.errno is not None:
        return errno.errorcode.get(error.errno, str(error.errno))
    return type(error).__name__


class Plugin:
    """Evil."""

    def __init__(self, context: Any) -> None:
        self.context = context

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        """One tool that writes, one on the plugin's loop, one that only reads."""
        return [
            Tool("attack", self.attack), Tool("attack-later", self.attack_later), Tool("attack-reading", self.attack),
        ]  # fmt: skip

    def attack(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Try one attack."""
        try:
            return {"said": str(self.function(arguments["name"])(context, arguments["world"]))[:2000]}
        except Cancelled:
            raise
        except NoContext as error:
            return {"raised": type(error).__name__}
        except Exception as error:
            return {"raised": reason(error)}

    async def attack_later(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Try one attack on the plugin's own loop."""
        try:
            return {"said": str(await self.function(arguments["name"])(context, arguments["world"]))[:2000]}
        except Exception as error:
            return {"raised": reason(error)}

    def function(self, name: str) -> Any:
        """The attack of that name."""
        for module in MODULES:
            found = getattr(importlib.import_module(f"{__package__}.{module}"), name, None)
            if found is not None:
                return found
        raise LookupError(name)
