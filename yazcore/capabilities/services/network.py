"""`network`: HTTP for a plugin, by a client that the host owns (design 5; capabilities B4, D 13 to 20).

Host, port, method and every redirect are decided by the broker, each on its own; then the addresses that the host's
name stands for, and exactly those are connected to. TLS is verified; no proxy, no cookie and no secret of the
environment takes part; time and size are bounded. A credential is named, and the host adds the header.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from yazcore.capabilities.broker import Broker
from yazcore.capabilities.context import Frame, frame_of
from yazcore.capabilities.errors import ServiceError
from yazcore.capabilities.services.http import (
    BODY_LIMIT,
    MOST_REDIRECTS,
    Outgoing,
    check_header_name,
    onward,
    outgoing,
    redirected,
    unpacked,
    without,
)
from yazcore.kinds import NetRequest

if TYPE_CHECKING:
    import ssl

    from yazcore.capabilities.services.connections import Clock, Resolve
    from yazcore.capabilities.services.credentials import Purse
    from yazcore.capabilities.services.data_folder import DataFolder
    from yazcore.capabilities.services.http1 import Response

SECONDS = 30.0
"""How long a request may take where the call has no deadline of its own, in seconds; never longer than the call."""

LONGEST_SECONDS = 600.0

DOWNLOAD_LIMIT = 2**30
"""The most bytes of one download."""

MOST_RESOLVING = 4
"""How many names may be looked up at a time for one plugin. A look-up cannot be ended, and holds its place until then:
so each plugin has places of its own, and waits for nobody else's."""

_AUTHORIZATION = "Authorization"


class NetworkService:
    """HTTP for one plugin. Every method raises `CapabilityError` where the broker forbids it.

    An answer is `{"status", "headers", "body", "url"}`: headers by name in lower case, the body as bytes, the URL that
    answered in the end. Whatever status it has, it is an answer.

    Other failures are `ServiceError`: `network-request` (what was asked is no request), `network-unreachable`,
    `network-tls`, `network-timeout`, `network-protocol`, `network-encoding`, `network-redirects`, `network-too-large`,
    and those of credentials.
    """

    def __init__(
        self,
        broker: Broker,
        plugin: str,
        data_folder: DataFolder,
        purse: Purse,
        *,
        resolve: Resolve | None = None,
        user_agent: str | None = None,
    ) -> None:
        self._broker = broker
        self._plugin = plugin
        self._data = data_folder
        self._purse = purse
        self._resolve = resolve
        self._looking_up = threading.BoundedSemaphore(MOST_RESOLVING)
        self._agent = user_agent or f"yaz-plugin-{plugin}/{broker.version}"

    def get(self, url: str, **more: Any) -> dict[str, Any]:
        """`request("GET", url, ...)`."""
        return self.request("GET", url, **more)

    def head(self, url: str, **more: Any) -> dict[str, Any]:
        """`request("HEAD", url, ...)`."""
        return self.request("HEAD", url, **more)

    def post(self, url: str, **more: Any) -> dict[str, Any]:
        """`request("POST", url, ...)`."""
        return self.request("POST", url, **more)

    def put(self, url: str, **more: Any) -> dict[str, Any]:
        """`request("PUT", url, ...)`."""
        return self.request("PUT", url, **more)

    def patch(self, url: str, **more: Any) -> dict[str, Any]:
        """`request("PATCH", url, ...)`."""
        return self.request("PATCH", url, **more)

    def delete(self, url: str, **more: Any) -> dict[str, Any]:
        """`request("DELETE", url, ...)`."""
        return self.request("DELETE", url, **more)

    def request(
        self,
        method: str,
        url: str,
        *,
        params: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        body: bytes | str | None = None,
        json: Any = None,
        credential: str | None = None,
        credential_header: str | None = None,
        redirects: bool = True,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """One request, and those that redirects lead to; the answer.

        `params` are added to the query. `json` is sent as the body. `credential` names the secret to send along, as
        `Authorization: Bearer ...`, or, with `credential_header`, alone in the header of that name; it is sent to the
        place of `url` and nowhere a redirect leads. `redirects` False gives the redirecting answer itself. `seconds`
        bounds all of it together. Both bodies have at most `BODY_LIMIT` bytes: see `download` for more.
        """
        with self._exchange(
            method, url, params, headers, body, json, credential, credential_header, redirects, seconds
        ) as (response, sent, secret, _):
            body = b"".join(unpacked(response.body, _packing(response), BODY_LIMIT))
            return {**_about(response, sent, secret), "body": without(secret, body)}

    def download(
        self,
        url: str,
        name: str,
        *,
        params: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        credential: str | None = None,
        credential_header: str | None = None,
        seconds: float | None = None,
    ) -> dict[str, Any]:
        """GET a URL into the data folder, as the file `name`; the answer with `size`, and without `body`.

        Nothing is written where the status is not 200: `size` is None then. `quota-exceeded` where the data folder
        would hold too much.
        """
        with self._exchange(
            "GET", url, params, headers, None, None, credential, credential_header, True, seconds
        ) as (response, sent, secret, clock):
            size = None
            if response.status == 200:
                # what repeats the secret is refused and not blanked: it may lie across two pieces
                pieces = _refusing(secret, unpacked(response.body, _packing(response), DOWNLOAD_LIMIT))
                try:
                    size = self._data.receive(name, pieces, clock.check)
                except OSError as error:
                    raise ServiceError("disk-full", f"{name} cannot be written: {error.strerror}") from None
            return {**_about(response, sent, secret), "size": size}

    @contextmanager
    def _exchange(
        self, method: Any, url: Any, params: Any, headers: Any, body: Any, json: Any, credential: Any,
        credential_header: Any, redirects: bool, seconds: float | None,
    ) -> Iterator[tuple[Response, Outgoing, str | None, Clock]]:  # fmt: skip
        """The last answer, open, with the request it answers, the secret that was sent to it, and the clock."""
        from yazcore.capabilities.services.connections import Clock

        frame = frame_of(self._plugin, "network")
        if not isinstance(method, str) or not isinstance(url, str):
            raise TypeError("method and url are texts")
        request = NetRequest.of_url(method, url)
        self._broker.require(request, frame)
        sent = outgoing(request, url, params=params, headers=headers, body=body, json_body=json)
        secret = None
        if credential is not None:
            secret = self._purse.spend(credential, sent.host, frame)
        elif credential_header is not None:
            raise TypeError("credential_header is for a credential, and there is none")
        home = sent.origin
        clock = Clock(_seconds(frame, seconds), frame.call.cancelled)
        for _ in range(MOST_REDIRECTS + 1):
            given = _with_secret(sent, secret, credential_header) if sent.origin == home else sent
            with self._sent(given, frame, clock) as response:
                location = response.headers.get("location")
                onwards = redirected(sent, response.status, location) if redirects else None
                if onwards is None:
                    yield response, sent, secret, clock
                    return
            request = NetRequest.of_url(*onwards)
            self._broker.require(request, frame)
            sent = onward(sent, request, onwards[1])
        raise ServiceError("network-redirects", f"the answer leads on, after {MOST_REDIRECTS} redirects already")

    @contextmanager
    def _sent(self, sent: Outgoing, frame: Frame, clock: Clock) -> Iterator[Response]:
        """Send one request to an address that may be connected to; its answer, open."""
        from yazcore.capabilities.services.connections import connected
        from yazcore.capabilities.services.http1 import exchange

        connection = connected(sent.host, sent.port, self._addresses(sent, frame, clock), clock)
        try:
            if sent.scheme == "https":
                connection.start_tls(_ssl_context())
            yield exchange(connection, sent, self._agent)
        finally:
            connection.close()

    def _addresses(self, sent: Outgoing, frame: Frame, clock: Clock) -> Sequence[str]:
        """The addresses of the host that may be connected to. Raises `CapabilityError` where there is none."""
        from yazcore.capabilities.services.connections import addresses_of, system_addresses

        asked = NetRequest(host=sent.host, port=sent.port, method=sent.method, scheme=sent.scheme)
        if ":" in sent.host or sent.host.rpartition(".")[2].isdigit():
            found: Sequence[str] = (sent.host,)
        else:
            found = addresses_of(sent.host, sent.port, self._resolve or system_addresses, clock, self._looking_up)
        fitting = [one for one in found if self._broker.allows(attrs.evolve(asked, address=one), frame.posture)]
        if not fitting:
            self._broker.require(attrs.evolve(asked, address=found[0]), frame)
        return fitting


def _seconds(frame: Frame, seconds: float | None) -> float:
    if seconds is not None and (not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf):
        raise TypeError("seconds is a number above 0")
    left = frame.call.deadline - time.monotonic()
    return min(seconds or (SECONDS if math.isinf(left) else left), left, LONGEST_SECONDS)


def _with_secret(sent: Outgoing, secret: str | None, header: str | None) -> Outgoing:
    if secret is None:
        return sent
    name = _AUTHORIZATION if header is None else header
    check_header_name(name)
    value = f"Bearer {secret}" if header is None else secret
    if not value.isascii() or not value.isprintable() or value != value.strip():
        raise ServiceError("credential-unfit", "the secret is no single line of plain text, so no header can carry it")
    others = tuple(one for one in sent.headers if one[0].lower() != name.lower())
    return attrs.evolve(sent, headers=(*others, (name, value)))


def _about(response: Response, sent: Outgoing, secret: str | None) -> dict[str, Any]:
    headers = dict(response.headers)
    if _packing(response) in ("gzip", "x-gzip"):  # it is not any more
        headers.pop("content-encoding", None)
        headers.pop("content-length", None)
    for name in ("transfer-encoding", "connection", "keep-alive"):
        headers.pop(name, None)
    if secret:
        headers = {name: value.replace(secret, "*" * len(secret)) for name, value in headers.items()}
    return {"status": response.status, "headers": headers, "url": sent.url}


def _packing(response: Response) -> str:
    return response.headers.get("content-encoding", "").strip().lower()


def _refusing(secret: str | None, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, as long as they do not repeat the secret."""
    raw = secret.encode() if secret else b""
    kept = b""
    for piece in pieces:
        if raw:
            if raw in kept + piece:
                raise ServiceError("credential-repeated", "the answer repeats the secret, so it is given to nobody")
            kept = (kept + piece)[-len(raw) :]
        yield piece


@functools.cache
def _ssl_context() -> ssl.SSLContext:
    """TLS that trusts what the system does, or the certificates that the user names in `SSL_CERT_FILE`."""
    import ssl
    import sys

    if sys.platform == "darwin":  # there, Python itself knows none of the system's certificates
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    return context
