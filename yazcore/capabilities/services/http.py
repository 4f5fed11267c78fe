"""HTTP as data: what a plugin may put into a request, where a redirect leads, what an answer holds. Pure."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

import attrs

from yazcore.capabilities.errors import ServiceError
from yazcore.kinds import NetRequest
from yazcore.kinds.net import canonical_host

BODY_LIMIT = 1_500_000
"""The most bytes of a body, of a request and of an answer: it has to pass to the plugin in one message (design 5)."""

MOST_HEADERS = 64
MOST_HEADER_BYTES = 32 * 1024
LONGEST_URL = 16 * 1024
MOST_REDIRECTS = 5

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD = re.compile(r"(?:[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?")
# How a message is framed and where it goes is the host's; an override of the method would pass by the posture.
_OF_THE_HOST = frozenset({
    "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "x-http-method",
    "x-http-method-override", "x-method-override",
})  # fmt: skip
_NOT_ELSEWHERE = frozenset({"authorization", "cookie"})
_OF_A_BODY = frozenset({"content-type", "content-encoding", "content-language", "content-location"})
_SAFE_IN_TARGET = "%/:?#[]@!$&'()*+,;=~-._"
_BLANK = b"*"

Headers = tuple[tuple[str, str], ...]


@attrs.frozen(kw_only=True)
class Outgoing:
    """One request as it goes out: `host` in its canonical spelling, `target` path and query, ASCII."""

    method: str
    scheme: str
    host: str
    port: int
    target: str
    headers: Headers = ()
    body: bytes | None = None

    @property
    def origin(self) -> tuple[str, str, int]:
        """What two requests share that go to the same place."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == {"https": 443, "http": 80}[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self.scheme}://{self.authority}{self.target}"


def outgoing(
    request: NetRequest, url: str, *, params: Any, headers: Any, body: Any, json_body: Any
) -> Outgoing:
    """The request that a plugin asks for. `request` is of the same URL, and allowed.

    Raises `ServiceError` `network-request` for what is no request.
    """
    if request.method in ("CONNECT", "TRACE"):
        raise _wrong(f"{request.method} is for proxies and for looking at them")
    parts = urlsplit(url)
    query = parts.query
    if params:
        query = "&".join(part for part in (query, _encoded(params)) if part)
    path = parts.path or "/"
    target = quote(path, safe=_SAFE_IN_TARGET) + (f"?{quote(query, safe=_SAFE_IN_TARGET)}" if query else "")
    if len(target) > LONGEST_URL:
        raise _wrong(f"the URL is longer than {LONGEST_URL} characters")
    given = _checked_headers(headers)
    data = _checked_body(body, json_body)
    if json_body is not None and not any(name.lower() == "content-type" for name, _ in given):
        given = (*given, ("Content-Type", "application/json"))
    return Outgoing(
        method=request.method, scheme=request.scheme, host=canonical_host(request.host), port=request.port,
        target=target, headers=given, body=data,
    )  # fmt: skip


def _encoded(params: Any) -> str:
    if not isinstance(params, Mapping):
        raise _wrong("params is no dict")
    pairs = [
        (name, one)
        for name, value in params.items()
        for one in (value if isinstance(value, (list, tuple)) else (value,))
    ]
    if not all(isinstance(name, str) and isinstance(one, (str, int, float)) for name, one in pairs):
        raise _wrong("params holds something else than texts and numbers")
    try:
        return urlencode(pairs)
    except UnicodeEncodeError:
        raise _wrong("params holds half a character") from None


def _checked_headers(headers: Any) -> Headers:
    if headers is None:
        return ()
    if not isinstance(headers, Mapping):
        raise _wrong("headers is no dict")
    if len(headers) > MOST_HEADERS:
        raise _wrong(f"there are more than {MOST_HEADERS} headers")
    checked = tuple(headers.items())
    for name, value in checked:
        check_header_name(name)
        if not isinstance(value, str) or not _FIELD.fullmatch(value):
            raise _wrong(f"the value of the header {name!r} is no single line of plain text")
    if sum(len(name) + len(value) for name, value in checked) > MOST_HEADER_BYTES:
        raise _wrong(f"the headers are larger than {MOST_HEADER_BYTES} bytes")
    return checked


def check_header_name(name: Any) -> None:
    """Raise `ServiceError` `network-request` for what a plugin may not name as a header."""
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise _wrong("a header's name is no plain word")
    if name.lower() in _OF_THE_HOST:
        raise _wrong(f"the header {name!r} is set by the host, or not at all")


def _checked_body(body: Any, json_body: Any) -> bytes | None:
    if json_body is not None:
        if body is not None:
            raise _wrong("body and json are both given")
        try:
            body = json.dumps(json_body, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise _wrong("json is no plain data") from None
    if body is None:
        return None
    if isinstance(body, str):
        try:
            body = body.encode()
        except UnicodeEncodeError:
            raise _wrong("body holds half a character") from None
    if not isinstance(body, bytes):
        raise _wrong("body is neither bytes nor text")
    if len(body) > BODY_LIMIT:
        raise ServiceError("network-too-large", f"a request has at most {BODY_LIMIT} bytes")
    return body


def redirected(sent: Outgoing, status: int, location: str | None) -> tuple[str, str] | None:
    """The method and the URL that an answer sends to, or None where it sends nowhere (RFC 9110, 15.4)."""
    if status not in (301, 302, 303, 307, 308) or location is None:
        return None
    method = sent.method
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        method = "GET"
    try:
        return method, urljoin(sent.url, location).partition("#")[0]
    except ValueError:
        return method, location


def onward(sent: Outgoing, request: NetRequest, url: str) -> Outgoing:
    """The request that follows a redirect: what must not reach another place stays behind."""
    parts = urlsplit(url)
    query = f"?{quote(parts.query, safe=_SAFE_IN_TARGET)}" if parts.query else ""
    target = quote(parts.path or "/", safe=_SAFE_IN_TARGET) + query
    if len(target) > LONGEST_URL:
        raise _wrong(f"the URL is longer than {LONGEST_URL} characters")
    found = attrs.evolve(
        sent, method=request.method, scheme=request.scheme, host=canonical_host(request.host), port=request.port,
        target=target,
    )  # fmt: skip
    gone = _NOT_ELSEWHERE if found.origin != sent.origin else frozenset[str]()
    if found.method != sent.method:
        gone |= _OF_A_BODY
        found = attrs.evolve(found, body=None)
    return attrs.evolve(found, headers=tuple(one for one in found.headers if one[0].lower() not in gone))


def header_dict(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """An answer's headers for a plugin: names in lower case, those that stand there twice joined."""
    found: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        between = "\n" if name == "set-cookie" else ", "
        found[name] = f"{found[name]}{between}{value}" if name in found else value
    return found


def unpacked(chunks: Iterable[bytes], encoding: str, most: int) -> Iterator[bytes]:
    """A body as it was before it was packed for the way, in pieces that are never larger than `most`.

    Raises `ServiceError`: `network-too-large` as soon as there is more than `most`, `network-encoding`.
    """
    left = most
    for piece in _inflated(chunks, most) if encoding in ("gzip", "x-gzip") else _as_it_is(chunks, encoding):
        left -= len(piece)
        if left < 0:
            raise ServiceError("network-too-large", f"the answer is larger than {most} bytes")
        yield piece


def _as_it_is(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    if encoding not in ("", "identity"):
        raise ServiceError("network-encoding", f"the answer is packed as {encoding[:40]!r}, which was not asked for")
    yield from chunks


def _inflated(chunks: Iterable[bytes], most: int) -> Iterator[bytes]:
    inflater = zlib.decompressobj(wbits=31)
    once = min(most + 1, 2**20)  # bounded each time: a small piece can hold a thousand times as much
    begun = False
    for chunk in chunks:
        begun = begun or bool(chunk)
        data, full = chunk, True
        while (data or full) and not inflater.eof:
            try:
                piece = inflater.decompress(data, once)
            except zlib.error:
                raise _unpackable("cannot be unpacked") from None
            data, full = inflater.unconsumed_tail, len(piece) == once
            yield piece
    if begun and not inflater.eof:
        raise _unpackable("ends too early")


def _unpackable(why: str) -> ServiceError:
    return ServiceError("network-encoding", f"the answer is packed as 'gzip' and {why}")


def without(secret: str | None, data: bytes) -> bytes:
    """The data with every literal repetition of a secret blanked; its length stays."""
    if not secret:
        return data
    raw = secret.encode()
    return data.replace(raw, _BLANK * len(raw))


def _wrong(why: str) -> ServiceError:
    return ServiceError("network-request", f"this is no request: {why}")
