"""A client that costs as little as one can: what is measured with it is nearly all the server's."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

VERSION = "2026-07-28"


def raw_calls(address: dict[str, Any], tool: str, text: str) -> Callable[[], float]:
    """One call of a tool that gives its `text` back, on a connection that is kept; gives its seconds."""
    parts = urlsplit(address["url"])
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    meta = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": tool, "arguments": {"text": text}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    head = (
        f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nAccept: application/json, text/event-stream\r\n"
        f"Authorization: Bearer {address['token']}\r\nMCP-Protocol-Version: {VERSION}\r\n"
        f"Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\r\n"
    ).encode()

    def call() -> float:
        began = time.perf_counter()
        connection.sock.sendall(head + body)
        response = http.client.HTTPResponse(connection.sock, method="POST")
        response.begin()
        answer = response.read()
        took = time.perf_counter() - began
        if response.status != 200 or text.encode() not in answer:
            raise RuntimeError(f"the server answered {response.status}: {answer[:200]!r}")
        return took

    return call
