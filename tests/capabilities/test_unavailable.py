from __future__ import annotations

from typing import Any

import pytest

from tests.capabilities.conftest import PLUGIN, Setup
from yazcore.capabilities.errors import CapabilityError, NoContext
from yazcore.capabilities.secrets import Secrets
from yazcore.capabilities.services import FileService, services
from yazcore.kinds import McpClient

ALL = (
    McpClient(servers=("reference-checker",)),
)
CALLS = [
    ("mcp_servers", "call", ("reference-checker", "check", {}), "mcp-client", "reference-checker check"),
    ("mcp_servers", "tools", ("reference-checker",), "mcp-client", "reference-checker"),
]
OUTSIDE = [
    ("mcp_servers", "call", ("other", "check")),
]


def made(setup: Setup) -> dict[str, Any]:
    return services(
        broker=setup.broker(), plugin=PLUGIN, data_folder=setup.home.plugin_data(PLUGIN), secrets=Secrets(setup.home)
    )


def refused(setup: Setup, service: str, method: str, args: tuple[Any, ...], posture: str = "write") -> CapabilityError:
    with setup.call("write" if posture == "write" else "read"), pytest.raises(CapabilityError) as caught:
        getattr(made(setup)[service], method)(*args)
    assert setup.recorded()[-1] == (caught.value.kind, caught.value.target, caught.value.reason)
    return caught.value


def test_every_service_of_a_context_is_there(setup: Setup) -> None:
    assert sorted(made(setup)) == ["credentials", "files", "mcp_servers", "network", "processes"]
    assert isinstance(made(setup)["files"], FileService)


@pytest.mark.parametrize(("service", "method", "args", "kind", "target"), CALLS)
def test_what_the_broker_allows_is_refused_as_unavailable(
    setup: Setup, service: str, method: str, args: tuple[Any, ...], kind: str, target: str
) -> None:
    setup.hold(*ALL)
    error = refused(setup, service, method, args)
    assert (error.kind, error.target, error.reason) == (kind, target, "service-unavailable")
    assert error.detail == f"the service {service!r} is not part of this version"


@pytest.mark.parametrize(("service", "method", "args", "kind", "target"), CALLS)
def test_a_fault_of_the_manifest_comes_first(
    setup: Setup, service: str, method: str, args: tuple[Any, ...], kind: str, target: str
) -> None:
    error = refused(setup, service, method, args)
    assert (error.kind, error.target, error.reason) == (kind, target, "not-declared")


@pytest.mark.parametrize(("service", "method", "args"), OUTSIDE)
def test_what_is_not_covered_is_out_of_scope(setup: Setup, service: str, method: str, args: tuple[Any, ...]) -> None:
    setup.hold(*ALL)
    assert refused(setup, service, method, args).reason == "out-of-scope"


def test_posture_is_kept_too(setup: Setup) -> None:
    setup.hold(*ALL)
    assert refused(setup, "mcp_servers", "call", ("reference-checker", "check"), "read").reason == "out-of-scope"
    assert refused(setup, "mcp_servers", "tools", ("reference-checker",), "read").reason == "service-unavailable"


def test_arguments_may_be_named(setup: Setup) -> None:
    setup.hold(*ALL)
    with setup.call(), pytest.raises(CapabilityError) as caught:
        made(setup)["mcp_servers"].call(server="reference-checker", tool="check", arguments={})
    assert caught.value.target == "reference-checker check"


def test_outside_a_context_there_is_no_service(setup: Setup) -> None:
    setup.hold(*ALL)
    with pytest.raises(NoContext):
        made(setup)["mcp_servers"].tools("reference-checker")
