"""`network` against real servers on the loopback interface; names lead there by the test's own resolver."""

from __future__ import annotations

import gzip
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.capabilities.conftest import PLUGIN, Setup, entered
from tests.capabilities.servers import Answer, Asked, Server, authority, saying, serving
from tests.capabilities.test_secrets import Memory
from yazcore.capabilities.context import Call, Frame
from yazcore.capabilities.errors import Cancelled, CapabilityError, NoContext, ServiceError
from yazcore.capabilities.secrets import Secrets
from yazcore.capabilities.services import network as network_module
from yazcore.capabilities.services.credentials import Purse
from yazcore.capabilities.services.data_folder import DataFolder
from yazcore.capabilities.services.http import BODY_LIMIT, MOST_REDIRECTS
from yazcore.capabilities.services.network import NetworkService
from yazcore.declarations import Posture
from yazcore.kinds import Credential, Net

LOOPBACK = "127.0.0.1"


class World:
    """A plugin that may reach `api.test` at one port, and what it finds there."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.answer: Callable[[Asked], Answer] = lambda asked: Answer(body=b"hello")
        self.looked_up: list[str] = []
        self.addresses: dict[str, Sequence[str]] = {}
        self.server: Server
        self.secrets = Secrets(setup.home, Memory())

    def hold(self, *names: str, ports: tuple[int, ...] = (), private: bool = True, **more: Any) -> None:
        net = Net(hosts=names or ("api.test",), ports=ports or (self.server.port,), private=private, **more)
        self.setup.hold(net, Credential(names=("api-key",)))

    def service(self, quota: int = 10**9) -> NetworkService:
        def resolve(host: str, port: int) -> Sequence[str]:
            self.looked_up.append(host)
            return self.addresses.get(host, [LOOPBACK])

        broker = self.setup.broker()
        data = DataFolder(folder=self.setup.home.plugin_data(PLUGIN), quota=quota)
        return NetworkService(broker, PLUGIN, data, Purse(broker, PLUGIN, self.secrets), resolve=resolve)

    def url(self, path: str = "/", host: str = "api.test", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.server.port}{path}"

    def request(self, method: str, url: str, posture: Posture = "write", **more: Any) -> dict[str, Any]:
        with self.setup.call(posture):
            return self.service().request(method, url, **more)

    def get(self, path: str = "/", **more: Any) -> dict[str, Any]:
        return self.request("GET", self.url(path), **more)

    def refused(self, method: str, url: str, posture: Posture = "write", **more: Any) -> CapabilityError:
        with pytest.raises(CapabilityError) as caught:
            self.request(method, url, posture, **more)
        kind, target, reason = self.setup.recorded()[-1]
        assert (kind, target, reason) == (caught.value.kind, caught.value.target, caught.value.reason)
        return caught.value

    def failed(self, path: str = "/", method: str = "GET", **more: Any) -> ServiceError:
        with pytest.raises(ServiceError) as caught:
            self.request(method, self.url(path), **more)
        return caught.value


@pytest.fixture
def world(setup: Setup) -> Iterator[World]:
    made = World(setup)
    with serving(lambda asked: made.answer(asked)) as server:
        made.server = server
        made.hold()
        yield made


# --- what is asked and what comes back


def test_an_answer_is_plain_data(world: World) -> None:
    world.answer = lambda asked: Answer(201, {"Content-Type": "text/plain", "X-A": "1"}, b"hello")
    answer = world.get("/items?q=a")
    assert (answer["status"], answer["body"], answer["url"]) == (201, b"hello", world.url("/items?q=a"))
    assert answer["headers"]["content-type"] == "text/plain"
    assert (answer["headers"]["x-a"], sorted(answer)) == ("1", ["body", "headers", "status", "url"])


def test_what_is_sent_is_what_was_asked(world: World) -> None:
    world.request("post", world.url("/a b".replace(" ", "%20")), params={"q": ["é", 1]}, json={"a": "ü"})
    (asked,) = world.server.asked
    assert (asked.method, asked.target) == ("POST", "/a%20b?q=%C3%A9&q=1")
    assert (asked.body, asked.headers["content-type"]) == ('{"a": "ü"}'.encode(), "application/json")
    assert asked.headers["host"] == f"api.test:{world.server.port}"
    assert asked.headers["user-agent"] == "yaz-plugin-zotero/0.1.0"
    assert "cookie" not in asked.headers


@pytest.mark.parametrize("method", ["get", "head", "post", "put", "patch", "delete"])
def test_each_method_has_a_name(world: World, method: str) -> None:
    with world.setup.call():
        answer = getattr(world.service(), method)(world.url())
    assert world.server.asked[0].method == method.upper()
    assert answer["body"] == (b"" if method == "head" else b"hello")


def test_an_answer_that_is_an_error_is_an_answer(world: World) -> None:
    world.answer = lambda asked: Answer(404, {}, b"no")
    assert world.get()["status"] == 404


def test_a_packed_answer_is_unpacked(world: World) -> None:
    body = b"x" * 100_000
    world.answer = lambda asked: Answer(200, {"Content-Encoding": "gzip"}, gzip.compress(body))
    answer = world.get()
    assert answer["body"] == body
    assert {"content-encoding", "content-length"}.isdisjoint(answer["headers"])


# --- the broker decides


@pytest.mark.parametrize(
    "host",
    [
        "evil.test", "sub.api.test", "api.test.evil.test", "xapi.test", "api.tes", "127.0.0.1", "2130706433",
        "0x7f000001", "localhost", "[::1]", "[::ffff:127.0.0.1]", "api.test@evil.test", "user@api.test", "api.test%2e",
        "api.test\\@evil.test", "api.test\0.evil.test", "api.test .evil.test", "api。evil.test", "",
    ],
)  # fmt: skip
def test_only_the_hosts_that_are_named_are_reached(world: World, host: str) -> None:
    assert world.refused("GET", world.url(host=host)).reason == "out-of-scope"
    assert world.server.asked == []
    assert world.looked_up == []


@pytest.mark.parametrize("host", ["API.test", "api.test.", "ａｐｉ.test"])
def test_another_spelling_of_the_host_is_the_same_host(world: World, host: str) -> None:
    assert world.request("GET", world.url(host=host))["status"] == 200
    assert world.looked_up == ["api.test"]
    assert world.server.asked[0].headers["host"] == f"api.test:{world.server.port}"


def test_another_port_is_refused(world: World) -> None:
    assert world.refused("GET", "http://api.test:1/").target == "GET http://api.test:1"
    assert world.refused("GET", "http://api.test/").target == "GET http://api.test:80"


@pytest.mark.parametrize("url", ["ftp://api.test/", "file:///etc/passwd", "//api.test/", "api.test", "unix:/x", ""])
def test_nothing_but_http_is_spoken(world: World, url: str) -> None:
    assert world.refused("GET", url).reason == "out-of-scope"


def test_plain_http_needs_private(world: World) -> None:
    world.hold(private=False)
    assert world.refused("GET", world.url()).reason == "out-of-scope"


def test_without_a_declaration_or_a_grant_nothing_is_sent(world: World) -> None:
    declared = world.setup.declared
    world.setup.hold()
    assert world.refused("GET", world.url()).reason == "not-declared"
    world.setup.declared = declared
    assert world.refused("GET", world.url()).reason == "not-granted"
    assert world.server.asked == []


def test_a_target_in_the_record_holds_no_path(world: World) -> None:
    world.refused("GET", world.url("/secret?token=1", host="evil.test"))
    assert "secret" not in str(world.setup.denials.of(PLUGIN))


# --- posture


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get\r\nX: y"])
def test_a_call_of_posture_read_only_reads(world: World, method: str) -> None:
    assert world.refused(method, world.url(), "read").reason == "out-of-scope"
    assert world.server.asked == []


def test_a_call_of_posture_read_may_use_what_is_said_to_read(world: World) -> None:
    world.hold(read_methods=("GET", "POST"))
    assert world.request("POST", world.url(), "read")["status"] == 200
    assert world.request("GET", world.url(), "read")["status"] == 200
    assert world.refused("HEAD", world.url(), "read").reason == "out-of-scope"


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "x-method-override", "X-Http-Method"])
def test_no_header_changes_the_method_behind_the_posture(world: World, name: str) -> None:
    assert world.failed(headers={name: "DELETE"}).code == "network-request"
    assert world.server.asked == []


# --- redirects


def test_every_hop_of_a_redirect_is_decided(world: World) -> None:
    world.answer = lambda asked: Answer(302, {"Location": world.url(host="evil.test")})
    assert world.refused("GET", world.url()).target == f"GET http://evil.test:{world.server.port}"
    assert [asked.headers["host"] for asked in world.server.asked] == [f"api.test:{world.server.port}"]


@pytest.mark.parametrize("location", ["http://127.0.0.1:1/", "//evil.test/", "http://api.test:1/", "file:///etc/passwd"])
def test_a_redirect_leads_nowhere_that_is_not_granted(world: World, location: str) -> None:
    world.answer = lambda asked: Answer(307, {"Location": location})
    assert world.refused("GET", world.url()).reason == "out-of-scope"


def test_a_redirect_within_the_host_is_followed(world: World) -> None:
    world.answer = lambda asked: Answer(302, {"Location": "/b#x"}) if asked.target == "/a" else Answer(body=b"there")
    answer = world.get("/a")
    assert (answer["body"], answer["url"]) == (b"there", world.url("/b"))


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [(303, "POST", "GET"), (302, "POST", "GET"), (301, "POST", "GET"), (307, "POST", "POST"), (303, "HEAD", "HEAD")],
)
def test_what_a_redirect_makes_of_the_method(world: World, status: int, method: str, then: str) -> None:
    world.answer = lambda asked: Answer(status, {"Location": "/b"}) if asked.target == "/a" else Answer()
    world.request(method, world.url("/a"), body=b"data" if method == "POST" else None)
    asked = world.server.asked[-1]
    assert (asked.method, asked.body) == (then, b"data" if then == "POST" else b"")


def test_a_redirect_does_not_lead_a_reading_call_to_write(world: World) -> None:
    world.hold(read_methods=("POST",))
    world.answer = lambda asked: Answer(303, {"Location": "/b"})
    assert world.refused("POST", world.url(), "read").target.startswith("GET ")


def test_redirects_end(world: World) -> None:
    world.answer = lambda asked: Answer(302, {"Location": "/"})
    assert world.failed().code == "network-redirects"
    assert len(world.server.asked) == MOST_REDIRECTS + 1


def test_a_redirect_can_be_looked_at(world: World) -> None:
    world.answer = lambda asked: Answer(302, {"Location": "http://evil.test/"})
    assert world.get(redirects=False)["headers"]["location"] == "http://evil.test/"


def test_credentials_of_the_plugin_stay_behind_at_another_place(world: World) -> None:
    with serving(lambda asked: Answer()) as other:
        world.hold(ports=(world.server.port, other.port))
        world.answer = lambda asked: Answer(307, {"Location": f"http://api.test:{other.port}/"})
        world.get(headers={"Authorization": "Bearer x", "Cookie": "a=b", "X-Own": "y"})
        assert {"authorization", "cookie"}.isdisjoint(other.asked[0].headers)
        assert other.asked[0].headers["x-own"] == "y"


# --- addresses


@pytest.mark.parametrize(
    "address", [LOOPBACK, "10.0.0.1", "169.254.169.254", "100.64.0.1", "192.0.2.1", "::1", "fe80::1", "fd00::1"]
)
def test_a_name_that_stands_for_an_inner_address_is_not_reached(world: World, address: str) -> None:
    world.hold(private=False)
    world.addresses["api.test"] = [address]
    refused = world.refused("GET", world.url(scheme="https"))
    assert (refused.reason, refused.detail) == (
        "out-of-scope", "the host's name stands for an address that is not public"
    )  # fmt: skip
    assert address not in str(refused)
    assert world.server.asked == []


def test_a_name_is_looked_up_once_a_hop(world: World) -> None:
    """Who answers twice differently (rebinding) is asked once: the address that was judged is connected to."""
    world.get()
    assert world.looked_up == ["api.test"]


def test_only_the_addresses_that_were_judged_are_connected_to(world: World) -> None:
    """Of two addresses the public one is tried, which leads nowhere here; the inner one is not, though it answers."""
    world.hold(private=False)
    world.addresses["api.test"] = ["192.0.2.1", LOOPBACK]
    with pytest.raises(CapabilityError):  # 192.0.2.1 is for documentation, and so not public either
        world.request("GET", world.url(scheme="https"))
    world.hold(private=True)
    world.addresses["api.test"] = ["127.0.0.2", LOOPBACK]
    assert world.get()["status"] == 200


def test_a_capability_without_private_does_not_hide_one_with_it(world: World) -> None:
    port = world.server.port
    world.setup.hold(
        Net(hosts=("api.test",), ports=(port,)), Net(hosts=("api.test", "b.test"), ports=(port,), private=True)
    )
    assert world.get()["status"] == 200


def test_a_name_that_leads_nowhere_is_said(world: World) -> None:
    world.addresses["api.test"] = []
    assert (world.failed().code, world.failed().message) == ("network-unreachable", "the name api.test leads nowhere")


def test_nobody_there_is_said(world: World) -> None:
    world.server.close()
    error = world.failed()
    assert (error.code, error.message) == (
        "network-unreachable", "api.test cannot be reached: Connection refused"
    )  # fmt: skip


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"])
def test_no_proxy_of_the_environment_takes_part(world: World, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert world.get()["status"] == 200


# --- TLS


def tls(world: World, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = authority(folder, name)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.root))
    network_module._ssl_context.cache_clear()
    return made.server


def test_a_server_that_proves_who_it_is_is_talked_to(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda asked: Answer(body=b"safe"), tls(world, tmp_path, "api.test", monkeypatch)) as server:
        world.hold(ports=(server.port,))
        assert world.request("GET", f"https://api.test:{server.port}/")["body"] == b"safe"
    network_module._ssl_context.cache_clear()


def test_a_server_of_another_name_is_not(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda asked: Answer(), tls(world, tmp_path, "evil.test", monkeypatch)) as server:
        world.hold(ports=(server.port,))
        with pytest.raises(ServiceError) as caught:
            world.request("GET", f"https://api.test:{server.port}/")
        assert caught.value.code == "network-tls"
        assert server.asked == []
    network_module._ssl_context.cache_clear()


def test_a_server_that_nobody_vouches_for_is_not(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tls(world, tmp_path / "theirs", "api.test", monkeypatch)
    with serving(lambda asked: Answer(), authority(tmp_path / "own", "api.test").server) as server:
        world.hold(ports=(server.port,))
        with pytest.raises(ServiceError) as caught:
            world.request("GET", f"https://api.test:{server.port}/")
        assert caught.value.code == "network-tls"
    network_module._ssl_context.cache_clear()


# --- credentials


def test_a_credential_is_sent_and_not_seen(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.secrets.keep("zotero/api-key", "s3cret-of-mine")
    world.answer = lambda asked: Answer(200, {"X-Echo": str(asked.headers)}, str(asked.headers).encode())
    with caplog.at_level(logging.DEBUG):
        answer = world.get(posture="read", credential="api-key")
    assert world.server.asked[0].headers["authorization"] == "Bearer s3cret-of-mine"
    assert b"Bearer **************'" in answer["body"]
    assert "s3cret" not in str(answer) + caplog.text
    assert len(answer["body"]) == int(answer["headers"]["content-length"])


def test_a_credential_may_have_a_header_of_its_own(world: World) -> None:
    world.secrets.keep("zotero/api-key", "s3cret")
    world.get(credential="api-key", credential_header="Zotero-API-Key", headers={"zotero-api-key": "mine"})
    assert world.server.asked[0].headers["zotero-api-key"] == "s3cret"
    assert "authorization" not in world.server.asked[0].headers
    assert world.failed(credential="api-key", credential_header="Host").code == "network-request"


def test_a_credential_needs_its_own_grant_and_the_hosts(world: World) -> None:
    world.secrets.keep("zotero/api-key", "s3cret", ("other.test",))
    assert world.refused("GET", world.url(), credential="other").kind == "credential"
    assert world.refused("GET", world.url(), credential="api-key").target == "api-key to api.test"
    assert world.refused("GET", world.url(host="evil.test"), credential="api-key").kind == "net"
    world.setup.hold(Net(hosts=("api.test",), ports=(world.server.port,), private=True))
    assert world.refused("GET", world.url(), credential="api-key").reason == "not-declared"
    assert world.server.asked == []


def test_a_credential_that_is_not_there_says_how_to_set_it(world: World) -> None:
    assert world.failed(credential="api-key").code == "credential-missing"


def test_a_credential_stays_behind_at_another_place(world: World) -> None:
    world.secrets.keep("zotero/api-key", "s3cret")
    with serving(lambda asked: Answer()) as other:
        world.hold(ports=(world.server.port, other.port))
        world.answer = lambda asked: Answer(
            307, {"Location": f"http://api.test:{other.port}/" if asked.target == "/b" else "/b"}
        )
        world.get(credential="api-key", credential_header="X-Key")
        assert [asked.headers.get("x-key") for asked in world.server.asked] == ["s3cret", "s3cret"]
        assert "x-key" not in other.asked[0].headers


def test_a_secret_that_no_header_can_carry_is_refused(world: World) -> None:
    world.secrets.keep("zotero/api-key", "two\nlines")
    error = world.failed(credential="api-key")
    assert error.code == "credential-unfit"
    assert "lines" not in error.message.partition("no single line")[0]
    assert world.server.asked == []


# --- what is no request


@pytest.mark.parametrize(
    "more",
    [
        {"headers": {"Host": "evil.test"}},
        {"headers": {"content-length": "5"}},
        {"headers": {"Transfer-Encoding": "chunked"}},
        {"headers": {"Connection": "upgrade"}},
        {"headers": {"X": "a\r\nHost: evil.test"}},
        {"headers": {"X": "a\0"}},
        {"headers": {"X": "ü€"}},
        {"headers": {"X": 5}},
        {"headers": {"X Y": "a"}},
        {"headers": {"X:": "a"}},
        {"headers": {"": "a"}},
        {"headers": {5: "a"}},
        {"headers": ["X"]},
        {"headers": {f"X{number}": "" for number in range(65)}},
        {"headers": {"X": "a" * 40_000}},
        {"params": ["q"]},
        {"params": {"q": None}},
        {"params": {"q": "\ud800"}},
        {"params": {"q": "a" * 20_000}},
        {"json": object()},
        {"json": float("nan")},
        {"json": 1, "body": b""},
        {"body": 5},
        {"body": "\ud800"},
    ],
    ids=str,
)
def test_what_is_no_request_is_not_sent(world: World, more: dict[str, Any]) -> None:
    assert world.failed(method="POST", **more).code == "network-request"
    assert world.server.asked == []


@pytest.mark.parametrize("method", ["CONNECT", "TRACE"])
def test_methods_for_proxies_are_not_sent(world: World, method: str) -> None:
    assert world.failed(method=method).code == "network-request"


def test_a_request_that_is_too_large_is_not_sent(world: World) -> None:
    assert world.failed(method="POST", body=b"x" * (BODY_LIMIT + 1)).code == "network-too-large"


@pytest.mark.parametrize("more", [{"seconds": 0}, {"seconds": "5"}, {"credential_header": "X"}])
def test_arguments_of_another_kind_are_type_errors(world: World, more: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        world.get(**more)


def test_outside_a_context_there_is_no_service(world: World) -> None:
    with pytest.raises(NoContext):
        world.service().get(world.url())


# --- servers that lie, flood, drip and hang


def test_an_answer_that_is_too_large_is_refused_early(world: World) -> None:
    world.answer = lambda asked: Answer(200, {}, b"x" * (BODY_LIMIT + 1))
    error = world.failed()
    assert (error.code, error.message) == ("network-too-large", f"the answer is larger than {BODY_LIMIT} bytes")


def test_a_bomb_is_refused_long_before_it_is_unpacked(world: World) -> None:
    bomb = gzip.compress(b"\0" * 200_000_000, 9)
    world.answer = lambda asked: Answer(200, {"Content-Encoding": "gzip"}, bomb)
    assert world.failed().code == "network-too-large"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("br", b"x"), ("gzip", b"no gzip"), ("gzip", gzip.compress(b"x" * 1000)[:-9]), ("gzip, gzip", b"x")],
)
def test_a_body_that_cannot_be_unpacked_is_refused(world: World, encoding: str, body: bytes) -> None:
    world.answer = lambda asked: Answer(200, {"Content-Encoding": encoding}, body)
    assert world.failed().code == "network-encoding"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"a" * 200_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    ],
    ids=range(8),
)
def test_a_server_that_lies_is_a_clear_error(world: World, said: bytes) -> None:
    with saying(said) as port:
        world.hold(ports=(port,))
        with pytest.raises(ServiceError) as caught:
            world.request("GET", f"http://api.test:{port}/", seconds=5)
    assert caught.value.code in ("network-protocol", "network-unreachable")


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"])
def test_a_server_that_says_no_more_is_given_up(world: World, said: bytes) -> None:
    with saying(said, threading.Event()) as port:
        world.hold(ports=(port,))
        with pytest.raises(ServiceError) as caught:
            world.request("GET", f"http://api.test:{port}/", seconds=0.3)
    assert (caught.value.code, caught.value.message) == ("network-timeout", "there was no answer within 0.3 seconds")


def test_the_calls_deadline_bounds_a_request(world: World) -> None:
    with saying(b"", threading.Event()) as port:
        world.hold(ports=(port,))
        call = Call(posture="write", deadline=time.monotonic() + 0.3)
        frame = Frame(plugin=PLUGIN, version="0.1.0", where="tools t", call=call)
        with entered(frame), pytest.raises(ServiceError) as caught:
            world.service().get(f"http://api.test:{port}/", seconds=100)
    assert caught.value.code == "network-timeout"


def test_a_call_that_is_cancelled_stops_waiting(world: World) -> None:
    with saying(b"HTTP/1.1 200 OK\r\n", threading.Event()) as port:
        world.hold(ports=(port,))
        with world.setup.call() as frame:
            threading.Timer(0.1, frame.call.cancelled.set).start()
            with pytest.raises(Cancelled):
                world.service().get(f"http://api.test:{port}/", seconds=100)


def test_a_call_that_is_cancelled_waits_for_no_silent_handshake(world: World) -> None:
    ended = threading.Event()
    with socket.create_server((LOOPBACK, 0)) as listening:
        port = listening.getsockname()[1]
        world.hold(ports=(port,))
        frame = world.setup.frame(project=world.setup.project)

        def ask() -> None:
            with entered(frame), pytest.raises(Cancelled):
                world.service().get(f"https://api.test:{port}/", seconds=60)
            ended.set()

        threading.Thread(target=ask, daemon=True).start()
        client, _ = listening.accept()
        with client:
            assert client.recv(1) == b"\x16"  # a handshake has begun; nobody answers it
            frame.call.cancelled.set()
            assert ended.wait(20)


def test_a_handshake_that_never_ends_has_the_requests_time(world: World) -> None:
    with saying(b"", threading.Event()) as port:
        world.hold(ports=(port,))
        with pytest.raises(ServiceError) as caught:
            world.request("GET", f"https://api.test:{port}/", seconds=0.3)
    assert caught.value.code == "network-timeout"


def test_what_is_no_handshake_is_no_protected_connection(world: World) -> None:
    with saying(b"HTTP/1.1 200 OK\r\n\r\n", threading.Event()) as port:
        world.hold(ports=(port,))
        with pytest.raises(ServiceError) as caught:
            world.request("GET", f"https://api.test:{port}/", seconds=20)
    assert caught.value.code == "network-tls"


def test_a_resolver_that_hangs_is_given_up(world: World) -> None:
    hold = threading.Event()

    def hanging(host: str, port: int) -> Sequence[str]:
        hold.wait()
        return [LOOPBACK]

    broker = world.setup.broker()
    data = DataFolder(folder=world.setup.home.plugin_data(PLUGIN))
    service = NetworkService(broker, PLUGIN, data, Purse(broker, PLUGIN, world.secrets), resolve=hanging)
    with world.setup.call(), pytest.raises(ServiceError) as caught:
        service.get(world.url(), seconds=0.2)
    hold.set()
    assert caught.value.code == "network-timeout"


def test_a_plugin_whose_look_ups_hang_keeps_no_other_plugin_from_its_own(world: World) -> None:
    hold, asked = threading.Event(), 0

    def hanging(host: str, port: int) -> Sequence[str]:
        nonlocal asked
        asked += 1
        hold.wait()
        return [LOOPBACK]

    broker = world.setup.broker()
    data = DataFolder(folder=world.setup.home.plugin_data(PLUGIN))
    service = NetworkService(broker, PLUGIN, data, Purse(broker, PLUGIN, world.secrets), resolve=hanging)

    def try_it() -> None:
        with world.setup.call(), pytest.raises(ServiceError):
            service.get(world.url(), seconds=0.3)

    try:
        for _ in range(4):  # at a time as many as were allowed over all plugins together, and more
            threads = [threading.Thread(target=try_it) for _ in range(5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert asked == network_module.MOST_RESOLVING
        assert world.get(seconds=20)["body"] == b"hello"  # another service, as another plugin has
    finally:
        hold.set()


# --- downloads


def test_a_download_lies_in_the_data_folder(world: World) -> None:
    world.answer = lambda asked: Answer(200, {"Content-Type": "application/pdf"}, b"%PDF" * 1_000_000)
    with world.setup.call("read"):
        answer = world.service().download(world.url(), "papers/one.pdf")
    assert (answer["size"], answer["headers"]["content-type"]) == (4_000_000, "application/pdf")
    assert (world.setup.home.plugin_data(PLUGIN) / "papers" / "one.pdf").stat().st_size == 4_000_000


def test_what_is_no_success_is_not_downloaded(world: World) -> None:
    world.answer = lambda asked: Answer(404, {}, b"no such thing")
    with world.setup.call():
        assert world.service().download(world.url(), "one.pdf")["size"] is None
    assert list(world.setup.home.plugin_data(PLUGIN).iterdir()) == []


def test_a_download_over_the_quota_leaves_nothing(world: World) -> None:
    world.answer = lambda asked: Answer(body=b"x" * 1000)
    with world.setup.call(), pytest.raises(ServiceError) as caught:
        world.service(quota=999).download(world.url(), "one.pdf")
    assert caught.value.code == "quota-exceeded"
    assert list(world.setup.home.plugin_data(PLUGIN).iterdir()) == []


@pytest.mark.parametrize("name", ["../one", "/one", "a/../../one", "", ".", "a\0b"])
def test_a_download_never_leaves_the_data_folder(world: World, name: str) -> None:
    with world.setup.call(), pytest.raises(ServiceError) as caught:
        world.service().download(world.url(), name)
    assert caught.value.code == "file-name-invalid"


def test_a_link_in_the_data_folder_does_not_lead_a_download_out(world: World, tmp_path: Path) -> None:
    data = world.setup.home.plugin_data(PLUGIN)
    (data / "out").symlink_to(tmp_path)
    (data / "link").symlink_to(tmp_path / "target")
    with world.setup.call():
        with pytest.raises(ServiceError) as caught:
            world.service().download(world.url(), "out/one")
        assert caught.value.code == "data-folder-broken"
        world.service().download(world.url(), "link")
    assert (data / "link").read_bytes() == b"hello"
    assert not (data / "link").is_symlink()
    assert not (tmp_path / "target").exists()
    assert not (tmp_path / "one").exists()


def test_a_download_that_repeats_the_secret_is_given_to_nobody(world: World) -> None:
    world.secrets.keep("zotero/api-key", "s3cret-of-mine")
    world.answer = lambda asked: Answer(body=b"x" * 65_530 + asked.headers["authorization"].encode())
    with world.setup.call(), pytest.raises(ServiceError) as caught:
        world.service().download(world.url(), "one", credential="api-key")
    assert caught.value.code == "credential-repeated"
    assert list(world.setup.home.plugin_data(PLUGIN).iterdir()) == []
