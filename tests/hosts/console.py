"""A second host application: a cluster console, built on yazcore's public names alone.

It has its own entry-point group, distribution prefix, contract number, scope kind, contribution kind and hookspec.
What it could not say through the public names would be a fault of `Host`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from yazcore import (
    CONTRIBUTION_KINDS,
    GLOBAL,
    HOOKSPECS,
    Contract,
    ContributionKind,
    Home,
    Host,
    Own,
    Page,
    Resource,
    ScopeKind,
    Tool,
    hookimpl,
    hookspec,
)

HERE = Path(__file__).parent


@attrs.frozen(kw_only=True)
class PanelDeclaration:
    """A panel as a manifest declares it: `{"id", "nameKey", "width"}`."""

    id: str
    name_key: str
    width: int = 1


@attrs.frozen
class Panel:
    """A panel as a plugin registers it."""

    id: str
    handler: Callable[..., Any]
    width: int | None = None


def _compare_panels(declared: PanelDeclaration, registered: Panel) -> Any:
    if registered.width is not None and registered.width != declared.width:
        yield "width", declared.width, registered.width


PANELS = ContributionKind(
    key="panels",
    hook="provide_panels",
    declaration=PanelDeclaration,
    registration=Panel,
    declared_name=lambda declared: declared.id,
    registered_name=lambda registered: registered.id,
    compare=_compare_panels,
)


class ConsoleHooks:
    """The console's own hooks."""

    @hookspec
    def provide_panels(self) -> list[Panel]:  # type: ignore[empty-body]
        """Contribute panels. Declared under `provides.panels`."""

    @hookspec
    def decorate(self, cluster: str, width: int) -> str | None:
        """Text to show beside a cluster's name, at most `width` characters."""


def canonical_uuid(text: str) -> str | None:
    """A UUID in its canonical spelling; nothing else is a cluster id (S-29, SA-14)."""
    try:
        canonical = str(uuid.UUID(text))
    except ValueError:
        return None
    return canonical if canonical == text else None


CLUSTER = ScopeKind(
    name="cluster",
    argument="clusterId",
    parse=canonical_uuid,
    source="list_clusters",
    hidden="No such cluster, or no permission for it; list_clusters shows yours.",
)

CONTRACT = Contract(
    number=3,
    group="console.manifest",
    prefix="console-plugin-",
    host="console",
    version="2026.9.1",
    reserved=frozenset({"console"}),
    schemes=("console",),
    contribution_kinds=(*CONTRIBUTION_KINDS, PANELS),
    scope_kinds=(GLOBAL, CLUSTER),
    hookspecs=(*HOOKSPECS, ConsoleHooks),
)


@attrs.frozen
class Cluster:
    """A cluster that the console manages."""

    id: str
    name: str


class ConsoleTools:
    """The console's own tools, declared and compared like anyone's."""

    def __init__(self, clusters: Mapping[str, Cluster]) -> None:
        self._clusters = clusters
        self.host: Host | None = None

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        return [Tool("list_clusters", self.list_clusters), Tool("help", self.help)]

    @hookimpl
    def provide_resources(self) -> list[Resource]:
        return [
            Resource("console://tools", lambda context, values: self._host().tools_document()),
            Resource("console://permissions", lambda context, values: self._host().permissions_document()),
            Resource("console://clusters", lambda context, values: {"clusters": self._visible(context)}),
            Resource("console://cluster/{clusterId}", self.cluster, lambda *asked: list(self._clusters)),
        ]

    def list_clusters(self, context: Any, arguments: dict[str, Any]) -> Page:
        return Page(self._visible(context))

    def cluster(self, context: Any, values: dict[str, str]) -> dict[str, str]:
        return {"clusterId": values["clusterId"], "name": self._clusters[values["clusterId"]].name}

    def _visible(self, context: Any) -> list[dict[str, str]]:
        """The clusters on which the caller may do something."""
        host = self._host()
        declared = [tool.declaration for tool in host.catalogue.now.tools.values()]
        actions = {"console:see", *(one.permission for one in declared if one.scope == "cluster")}
        return [
            {"clusterId": one.id, "name": one.name}
            for one in self._clusters.values()
            if any(host.may(context.call.principal, action, "cluster", one.id) for action in actions)
        ]

    def help(self, context: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        return self._host().help(arguments.get("topic"))

    def _host(self) -> Host:
        assert self.host is not None
        return self.host


def console(
    home: Home, clusters: Mapping[str, Cluster] | None = None, builtin: tuple[Path, ...] = (), **more: Any
) -> Host:
    """A console with these clusters; plugins are handed over as folders unless `discover` says otherwise."""
    known = dict(clusters or {})
    tools = ConsoleTools(known)
    host = Host(
        CONTRACT,
        home=home,
        own=Own(folder=HERE / "console_own", make=lambda context: tools),
        builtin=builtin,
        resolve={"cluster": known.get},
        **{"discover": False, **more},
    )
    tools.host = host
    return host
