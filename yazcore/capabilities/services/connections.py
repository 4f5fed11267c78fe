"""Connections to addresses that have been checked, within an absolute time (capabilities D 14 to 20).

A name is resolved once for each hop; what may be connected to is decided on the addresses it gave, and exactly those
are connected to: a second look-up could give others. No proxy of the environment takes part.
"""

from __future__ import annotations

import errno
import os
import queue
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from yazcore.capabilities.context import Flag
from yazcore.capabilities.errors import Cancelled, ServiceError

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host, as texts, best first. Raises `OSError`."""

_LOOK_SECONDS = 0.2


class Clock:
    """How long a request may still take. It ends at an absolute time, however slowly the other side drips."""

    def __init__(self, seconds: float, cancelled: Flag) -> None:
        self._end = time.monotonic() + seconds
        self._seconds = seconds
        self._cancelled = cancelled

    def left(self) -> float:
        """The seconds left. Raises `ServiceError` `network-timeout`, and `Cancelled` when nobody waits any more."""
        if self._cancelled.is_set():
            raise Cancelled("the call was cancelled")
        left = self._end - time.monotonic()
        if left <= 0:
            raise ServiceError("network-timeout", f"there was no answer within {self._seconds:g} seconds")
        return left

    def check(self) -> None:
        """Raise as `left` does."""
        self.left()

    def slice(self) -> float:
        """How long to wait before looking at the clock again."""
        return min(self.left(), _LOOK_SECONDS)


def system_addresses(host: str, port: int) -> list[str]:
    """What the system's resolver gives for a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def addresses_of(
    host: str, port: int, resolve: Resolve, clock: Clock, places: threading.BoundedSemaphore
) -> tuple[str, ...]:
    """The addresses of a host, looked up in a thread, because a look-up knows no deadline.

    `places` are those of whoever asks; while all are taken it waits, as long as the clock lets it.

    Raises `ServiceError` `network-unreachable`, and as the clock does.
    """
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(tuple(resolve(host, port)))
        except (OSError, UnicodeError) as error:
            answers.put(error)
        finally:
            places.release()

    while not places.acquire(timeout=clock.slice()):
        pass
    threading.Thread(target=ask, name="yaz-resolve", daemon=True).start()
    while True:
        try:
            found = answers.get(timeout=clock.slice())
        except queue.Empty:
            continue
        if isinstance(found, Exception) or not found:
            raise ServiceError("network-unreachable", f"the name {host} leads nowhere")
        return tuple(found)


def connected(host: str, port: int, addresses: Sequence[str], clock: Clock) -> Connection:
    """A connection to the first of the addresses that answers. `host` is for words only.

    Raises `ServiceError` `network-unreachable`, and as the clock does.
    """
    problem = "it has no address"
    for address in addresses:
        try:
            return Connection(_connected(address, port, clock), host, clock)
        except OSError as error:
            problem = error.strerror or "it does not answer"
    raise ServiceError("network-unreachable", f"{host} cannot be reached: {problem}")


def _connected(address: str, port: int, clock: Clock) -> socket.socket:
    """A connection, made in steps: a call that is cancelled does not hold its thread until the deadline."""
    made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setblocking(False)
        code = made.connect_ex((address, port))
        if code == errno.EINPROGRESS:
            with selectors.DefaultSelector() as selector:
                selector.register(made, selectors.EVENT_WRITE)
                while not selector.select(clock.slice()):
                    pass
            code = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
    except BaseException:
        made.close()
        raise
    return made


class Connection:
    """One connection to a host. Every operation keeps to the clock, and raises `ServiceError`.

    `network-unreachable` where it breaks, `network-tls` where the host cannot prove who it is, `network-timeout`.
    """

    def __init__(self, made: socket.socket, host: str, clock: Clock) -> None:
        self._socket = made
        self._host = host
        self._clock = clock

    def start_tls(self, context: ssl.SSLContext) -> None:
        """Speak TLS from here on; the certificate must be the host's."""
        self._socket.settimeout(self._clock.left())
        try:
            # truststore's context judges the certificate as soon as the socket is wrapped: there it is one step
            in_steps = type(context) is ssl.SSLContext
            self._socket = context.wrap_socket(
                self._socket, server_hostname=self._host, do_handshake_on_connect=not in_steps
            )
            if in_steps:
                self._shake_hands(self._socket)
        except ssl.SSLCertVerificationError as error:
            raise ServiceError(
                "network-tls", f"{self._host} could not prove that it is that host: {error.verify_message}"
            ) from None
        except TimeoutError:
            self._clock.left()
            raise ServiceError("network-unreachable", f"{self._host} did not answer") from None
        except OSError as error:
            raise ServiceError("network-tls", f"no protected connection to {self._host}: {_reason(error)}") from None

    def _shake_hands(self, made: ssl.SSLSocket) -> None:
        """In steps: a call that is cancelled does not hold its thread until the deadline."""
        made.setblocking(False)
        with selectors.DefaultSelector() as selector:
            selector.register(made, selectors.EVENT_READ)
            while True:
                try:
                    return made.do_handshake()
                except ssl.SSLWantReadError:
                    selector.modify(made, selectors.EVENT_READ)
                except ssl.SSLWantWriteError:
                    selector.modify(made, selectors.EVENT_WRITE)
                selector.select(self._clock.slice())

    def read(self, most: int) -> bytes:
        """What is there, at most so many bytes; nothing: the other side has closed."""
        while True:
            self._socket.settimeout(self._clock.slice())
            try:
                return self._socket.recv(most)
            except TimeoutError:
                continue
            except OSError as error:
                raise self._lost(error) from None

    def write(self, data: bytes) -> None:
        """Write all of it."""
        rest = memoryview(data)
        while rest:
            self._socket.settimeout(self._clock.slice())
            try:
                rest = rest[self._socket.send(rest) :]
            except TimeoutError:
                continue
            except OSError as error:
                raise self._lost(error) from None

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def _lost(self, error: OSError) -> ServiceError:
        return ServiceError("network-unreachable", f"the connection to {self._host} was lost: {_reason(error)}")


def _reason(error: OSError) -> str:
    return str(getattr(error, "reason", None) or error.strerror or "it broke off")
