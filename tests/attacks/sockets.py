"""HTTP by hand, over loopback sockets: what no client library would send."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from tests.mcp.serving import ACCEPT, MODERN

META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def port_of(url: str) -> int:
    """The port in an address."""
    return int(url.split(":")[2].split("/")[0])


def modern(method: str, params: Mapping[str, Any], request_id: Any = 1) -> dict[str, Any]:
    """The body of a request of the newer era."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": META}}


def request(
    port: int,
    token: str | None,
    body: Any,
    *headers: str,
    line: str = "POST /mcp HTTP/1.1",
    host: str | None = None,
    length: bool = True,
) -> bytes:
    """The bytes of one request; `headers` are whole lines, `body` bytes or JSON. Of the newer era if the body is."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [line, f"Host: {host if host is not None else f'127.0.0.1:{port}'}", f"Accept: {ACCEPT}"]
    lines.append("Content-Type: application/json")
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    if isinstance(body, dict) and "_meta" in body.get("params", {}):
        named = body["params"].get("name") or body["params"].get("uri")
        lines += [f"MCP-Protocol-Version: {MODERN}", f"Mcp-Method: {body['method']}"]
        lines += [f"Mcp-Name: {named}"] if named is not None else []
    lines += headers
    if length:
        lines.append(f"Content-Length: {len(data)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data


async def sent(port: int, data: bytes, answers: int = 1) -> bytes:
    """What comes back on a new connection until it is closed, or that many answers have come whole."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        received = b""
        with contextlib.suppress(ConnectionError):
            while not _whole(received, answers) and (more := await asyncio.wait_for(reader.read(65_536), 10)):
                received += more
        return received
    finally:
        writer.close()


def _whole(received: bytes, answers: int) -> bool:
    """Whether that many answers are there, each with a Content-Length or in chunks."""
    for _ in range(answers):
        head, end, rest = received.partition(b"\r\n\r\n")
        if not end:
            return False
        if b"transfer-encoding: chunked" in head.lower():
            _, last, received = rest.partition(b"\r\n0\r\n\r\n")
            if not last:
                return False
            continue
        size = next(int(one[15:]) for one in head.lower().split(b"\r\n") if one.startswith(b"content-length:"))
        if len(rest) < size:
            return False
        received = rest[size:]
    return True


def status(answer: bytes) -> int:
    """The status of the first answer."""
    return int(answer.split(b" ", 2)[1])


def document(answer: bytes) -> Any:
    """The JSON of the first answer."""
    return json.loads(answer.partition(b"\r\n\r\n")[2])
