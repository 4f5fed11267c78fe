"""Servers on the loopback interface for tests of `network`: an honest one over HTTP or TLS, and one that says whatever
bytes it is told to."""

from __future__ import annotations

import contextlib
import datetime
import http.server
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs


@attrs.define
class Asked:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@attrs.define
class Answer:
    """One answer: its headers are sent as they stand here, and a length unless they have one."""

    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)
    body: bytes = b""


class Server:
    """An HTTP server that answers each request by a function, and remembers it."""

    def __init__(self, answer: Callable[[Asked], Answer], context: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, headers, self.rfile.read(length))
                outer.asked.append(asked)
                given = answer(asked)
                self.send_response(given.status)
                for name, value in given.headers.items():
                    self.send_header(name, value)
                if "Content-Length" not in given.headers:
                    self.send_header("Content-Length", str(len(given.body)))
                self.end_headers()
                if self.command != "HEAD":
                    with contextlib.suppress(OSError):
                        self.wfile.write(given.body)

            def log_message(self, *args: Any) -> None:
                return

        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"):
            setattr(Handler, f"do_{method}", Handler._any)

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                return  # a client that gives up is what is tested

        self._server = Quiet(("127.0.0.1", 0), Handler)
        if context is not None:
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextlib.contextmanager
def serving(answer: Callable[[Asked], Answer], context: ssl.SSLContext | None = None) -> Iterator[Server]:
    server = Server(answer, context)
    try:
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def saying(data: bytes, then: threading.Event | None = None) -> Iterator[int]:
    """A server that says these bytes to whoever connects, and then waits for the event or for the client to leave."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                with client:
                    client.recv(65536)
                    client.sendall(data)
                    if then is not None:
                        then.wait()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        if then is not None:
            then.set()
        listening.close()


@attrs.frozen
class Authority:
    """Certificates: the authority's, in `root`, and a context for a server that proves to be `name`."""

    root: Path
    server: ssl.SSLContext


def authority(folder: Path, name: str) -> Authority:
    """A certificate authority of the test's own, and a server's certificate for one name."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.datetime.now(datetime.UTC)
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "the test's own")])

    def built(subject: x509.Name, key: Any, signer: Any, extensions: list[Any]) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(signer, hashes.SHA256())

    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = built(issuer, root_key, root_key, [x509.BasicConstraints(ca=True, path_length=None)])
    own = built(
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key, root_key,
        [x509.SubjectAlternativeName([x509.DNSName(name)])],
    )  # fmt: skip
    pem = serialization.Encoding.PEM
    (folder / "root.pem").write_bytes(root.public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(own.public_bytes(pem) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return Authority(folder / "root.pem", context)
