"""Formats without a host: functions called directly, so that a test can say what a format does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from yazcore import ServiceError
from yazcore.writing.plugins.typst.plugin import TypstPlugin
from yazcore.writing.projects.formats import Claim, Folder

TYPST = Claim(plugin="typst", version="0.1.0", id="typst", extensions=(".typ",))


class Port:
    """The shipped Typst format, or other functions in its place, called in this thread."""

    def __init__(
        self, *, claims: Sequence[Claim] = (TYPST,), secret: str = ".env", **functions: Callable[..., Any]
    ) -> None:
        self._claims = claims
        self._secret = secret
        self.refusals: list[tuple[str, str, str]] = []
        self._functions = functions
        self._plugin: Any = TypstPlugin(SimpleNamespace())  # type: ignore[arg-type]

    def claims(self) -> Sequence[Claim]:
        return self._claims

    def may_read(self, plugin: str, path: str) -> bool:
        return self._secret not in path.split("/")

    def refused(self, plugin: str, path: str, where: str) -> str:
        self.refusals.append((plugin, path, where))
        return "fs-project, not-granted"

    def call(self, claim: Claim, function: str, folder: Folder, argument: Any, seconds: float) -> Any:
        context = SimpleNamespace(files=_Reading(folder))
        if function in self._functions:
            return self._functions[function](argument)
        assert inspect.ismethod(getattr(self._plugin, function))
        return getattr(self._plugin, function)(context, argument)


class _Reading:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def read_text(self, path: str) -> str:
        try:
            return (self._folder.root / path).read_text("utf-8")
        except OSError:
            raise ServiceError("file-not-found", path) from None
