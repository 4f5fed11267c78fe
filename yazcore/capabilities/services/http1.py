"""One request and its answer over one connection, in HTTP/1.1 (h11 speaks it; nothing is logged)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs
import h11

from yazcore.capabilities.errors import ServiceError
from yazcore.capabilities.services.connections import Connection
from yazcore.capabilities.services.http import Outgoing, header_dict

MOST_HEAD_BYTES = 64 * 1024
"""The most bytes of status line and headers of an answer, and of one piece of its framing."""

_READ = 64 * 1024


@attrs.frozen(kw_only=True, eq=False)
class Response:
    """An answer: its headers by name in lower case, and its body as it comes, packed as the server packed it."""

    status: int
    headers: Mapping[str, str]
    body: Iterator[bytes]


def exchange(connection: Connection, sent: Outgoing, agent: str) -> Response:
    """Send a request; the answer, whose body is read as it is asked for.

    Raises `ServiceError`: `network-request` for what HTTP does not allow, `network-protocol` for an answer that is
    none, and as the connection does; reading the body raises the same.
    """
    speech = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD_BYTES)
    try:
        head = speech.send(h11.Request(method=sent.method, target=sent.target, headers=_headers(sent, agent)))
        body = speech.send(h11.Data(data=sent.body)) if sent.body else b""
        end = speech.send(h11.EndOfMessage())
    except h11.LocalProtocolError:
        raise ServiceError("network-request", "this is no request: HTTP does not allow it") from None
    connection.write((head or b"") + (body or b"") + (end or b""))
    while True:
        event = _next(speech, connection, sent.host)
        if isinstance(event, h11.Response):
            break
        if isinstance(event, h11.InformationalResponse) and event.status_code != 101:
            continue
        raise _no_http(sent.host)
    headers = header_dict((bytes(name), bytes(value)) for name, value in event.headers)
    return Response(status=event.status_code, headers=headers, body=_body(speech, connection, sent.host))


def _headers(sent: Outgoing, agent: str) -> list[tuple[bytes, bytes]]:
    headers = [("Host", sent.authority), *sent.headers, ("Accept-Encoding", "gzip"), ("Connection", "close")]
    if not any(name.lower() == "user-agent" for name, _ in headers):
        headers.append(("User-Agent", agent))
    if sent.body is not None or sent.method not in ("GET", "HEAD"):
        headers.append(("Content-Length", str(len(sent.body or b""))))
    return [(name.encode(), value.encode("latin-1")) for name, value in headers]


def _body(speech: h11.Connection, connection: Connection, host: str) -> Iterator[bytes]:
    while True:
        event = _next(speech, connection, host)
        if isinstance(event, h11.Data):
            yield bytes(event.data)
        else:
            return


def _next(speech: h11.Connection, connection: Connection, host: str) -> object:
    try:
        while (event := speech.next_event()) is h11.NEED_DATA:
            speech.receive_data(connection.read(_READ))
    except h11.RemoteProtocolError:
        raise _no_http(host) from None
    if isinstance(event, h11.ConnectionClosed):
        raise _no_http(host)
    return event


def _no_http(host: str) -> ServiceError:
    return ServiceError("network-protocol", f"{host} answers something that is not HTTP, or breaks off")
