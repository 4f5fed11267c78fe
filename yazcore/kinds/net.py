"""`net`: HTTP to hosts that are named, exactly (Y-17; capabilities E).

A host has one spelling here, `canonical_host`, and only that spelling may be resolved and connected to: what a rule
sees and what a resolver sees must never differ. Redirects and addresses are checked by the service, each on its own:
a redirect is a new `NetRequest`, and an address has to be `public` unless the capability says `private`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import attrs

from yazcore.kinds.base import Capability, Request, TargetFault, has_wildcard, some_of, text_faults, whole_text
from yazcore.kinds.causes import Cause

READ_METHODS = ("GET", "HEAD")
"""The HTTP methods that only read, where a capability does not say."""

_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_NUMERIC = re.compile(r"0x[0-9a-f]*|[0-9]+")
_METHOD = re.compile(r"[A-Z]{1,20}")
_PLAIN_HOST = re.compile(r"[^\s*?/\\@#%]+")  # what no host holds; what is one, `canonical_host` says
_LONGEST_HOST = 255
_NEVER_READS = frozenset({"PUT", "PATCH", "DELETE", "CONNECT", "TRACE"})
_FOREIGN = frozenset("/\\@?#%[]:")
_PORTS = {"https": 443, "http": 80}


def canonical_host(text: str) -> str:
    """The one spelling of a host: lower case, no trailing dot, A-labels, dotted quads, short IPv6.

    Raises `ValueError` with a reason for everything that is not exactly a host: a scheme, a port, user information,
    a path, white space, NUL, a wildcard, a numeric host that is no dotted quad.
    """
    if not text:
        raise ValueError("it is empty")
    if len(text) > _LONGEST_HOST:
        raise ValueError("it is longer than a host name can be")
    if not text.isprintable() or any(character.isspace() for character in text):
        raise ValueError("it holds white space or control characters")
    if has_wildcard(text):
        raise ValueError("it is a wildcard")
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if bare.count(":") > 1 and _FOREIGN.isdisjoint(bare.replace(":", "").replace("%", "")):
        return _address6(bare)
    if not _FOREIGN.isdisjoint(text):
        raise ValueError("it holds more than a host: leave out scheme, user, port and path")
    host = _ascii(text.removesuffix(".")).lower()
    labels = host.split(".")
    if _NUMERIC.fullmatch(labels[-1]):
        return _address4(host)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("its parts must be letters, digits and inner hyphens")
    return host


def _ascii(host: str) -> str:
    if host.isascii() and "xn--" not in host.lower():
        return host
    import idna  # here, because few hosts need it and listing plugins should not pay for it

    try:
        encoded: bytes = idna.encode(host, uts46=True, std3_rules=True)
    except UnicodeError:
        raise ValueError("it is no valid international name") from None
    return encoded.decode("ascii")


def _address4(host: str) -> str:
    import ipaddress

    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        raise ValueError("a numeric host must be four decimal numbers, as in 192.0.2.1") from None


def _address6(text: str) -> str:
    import ipaddress

    if "%" in text:
        raise ValueError("an address must have no zone")
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise ValueError("it is no IPv6 address") from None
    return str(address.ipv4_mapped or address)


def is_public(address: str) -> bool:
    """Whether an IP address, as text, may be connected to without `private`: global and not multicast.

    An IPv6 address that stands for an IPv4 address is judged by that one. What is no address is not public.
    """
    import ipaddress

    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is None and found in ipaddress.IPv6Network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is None:
            return found.is_global and not (found.is_multicast or found.is_reserved or found.is_site_local)
        found = inner
    return found.is_global and not found.is_multicast


@attrs.frozen(kw_only=True)
class NetRequest(Request):
    """One HTTP request to one host: every hop of a redirect is another.

    `address` is the IP address that the host's name stands for, once it is known: what will be connected to.
    """

    host: str
    port: int = 443
    method: str = "GET"
    scheme: str = "https"
    address: str | None = None
    kinds: tuple[str, ...] = ("net",)
    target: str = attrs.field()

    @target.default
    def _target(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.method} {self.scheme}://{host}:{self.port}"

    @classmethod
    def of_url(cls, method: str, url: str) -> NetRequest:
        """The request for a URL. A URL that is not strictly one gives a request that nothing covers.

        Path and query are left out of the target: they may hold what should not be in a log.
        """
        from urllib.parse import urlsplit

        if url.isprintable() and not any(character.isspace() or character == "\\" for character in url):
            try:
                parts = urlsplit(url)
                port = parts.port if parts.port is not None else _PORTS.get(parts.scheme, 0)
                if parts.username is None and parts.password is None and parts.hostname:
                    return cls(host=parts.hostname, port=port, method=method.upper(), scheme=parts.scheme)
            except ValueError:
                pass
        return cls(host="", port=0, method=method.upper(), scheme="", target=f"{method.upper()} (no valid URL)")

    def fault(self) -> str:
        """Why the host is none, where it is none, or that it does not lead into the public internet."""
        try:
            canonical_host(self.host)
        except ValueError as error:
            return f"the host is not one: {error}"
        if self.address is not None and not is_public(self.address):
            return "the host's name stands for an address that is not public"
        return ""

    def cause(self) -> Cause:
        """Whether it is the address alone that is not public."""
        if self.fault() and not attrs.evolve(self, address=None).fault():
            return "address"
        return super().cause()


@attrs.frozen(kw_only=True)
class Net(Capability):
    """HTTPS to the hosts named, on the ports named; with `private` also plain http, and addresses not public."""

    kind: ClassVar[str] = "net"
    service: ClassVar[str] = "network"
    sensitive: ClassVar[bool] = True
    schema_keywords: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "hosts": some_of(whole_text(_PLAIN_HOST, _LONGEST_HOST)),
        "ports": some_of({"minimum": 1, "maximum": 65535}),
        "read_methods": some_of({**whole_text(_METHOD), "not": {"enum": sorted(_NEVER_READS)}}),
    }

    hosts: tuple[str, ...]
    ports: tuple[int, ...] = (443,)
    private: bool = False
    read_methods: tuple[str, ...] = READ_METHODS

    def targets(self) -> dict[str, Any]:
        """Hosts in their one spelling, ports and methods, each sorted."""
        return {
            "hosts": sorted({_canonical_or_same(host) for host in self.hosts}),
            "ports": sorted(set(self.ports)),
            "private": self.private,
            "readMethods": sorted(set(self.read_methods)),
        }

    def faults(self) -> Iterator[TargetFault]:
        """Wildcards, empty lists, what is no host, port or method, local hosts without `private`."""
        yield from text_faults(self.hosts, "hosts", "host name")
        for index, host in enumerate(self.hosts):
            if host.strip() and not has_wildcard(host):
                yield from self._host_faults(host, index)
        if not self.ports:
            yield TargetFault(
                "capability-empty", "ports is empty, which asks for nothing", "leave it out for 443", ("ports",)
            )
        for index, port in enumerate(self.ports):
            if not 1 <= port <= 65535:
                yield TargetFault(
                    "capability-port", f"{port} is not a port", "give a number from 1 to 65535", ("ports", index)
                )
        yield from text_faults(self.read_methods, "readMethods", "HTTP method")
        for index, method in enumerate(self.read_methods):
            if method.strip() and not has_wildcard(method):
                yield from _method_faults(method, index)

    def _host_faults(self, host: str, index: int) -> Iterator[TargetFault]:
        try:
            canonical = canonical_host(host)
        except ValueError as error:
            yield TargetFault(
                "capability-host", f"{host!r} is not a host name: {error}",
                "give the host alone, as in api.zotero.org", ("hosts", index),
            )  # fmt: skip
            return
        if not self.private and _is_local(canonical):
            yield TargetFault(
                "capability-host-private", f"{host!r} is not a public host",
                "set private to true, which people are shown, or name a public host", ("hosts", index),
            )  # fmt: skip

    def covers(self, request: Request) -> bool:
        """Whether host and port are named exactly, over https, or over http with `private`. Every method is covered.

        An address, where it is known, must be public, or the capability `private`.
        """
        if not isinstance(request, NetRequest) or not _METHOD.fullmatch(request.method):
            return False
        if request.scheme != "https" and not (request.scheme == "http" and self.private):
            return False
        try:
            host = canonical_host(request.host)
        except ValueError:
            return False
        return (
            host in {_canonical_or_none(named) for named in self.hosts}
            and request.port in self.ports
            and (self.private or not _is_local(host))
            and (self.private or request.address is None or is_public(request.address))
        )

    def reads(self, request: Request) -> bool:
        """Whether the method is one of `readMethods`."""
        return isinstance(request, NetRequest) and request.method in self.read_methods

    def within(self, other: Capability) -> bool:
        """Whether `other` names all its hosts, ports and read methods, and is private if it is."""
        if not isinstance(other, Net):
            return False
        mine, theirs = self.targets(), other.targets()
        return (self.private is False or other.private) and all(
            set(mine[key]) <= set(theirs[key]) for key in ("hosts", "ports", "readMethods")
        )

    def sentence(self) -> str:
        """What people read; whatever differs from the defaults is said."""
        targets = self.targets()
        parts = [f"send data to {', '.join(targets['hosts'])}"]
        if targets["ports"] != [443]:
            parts.append(f"on port {', '.join(map(str, targets['ports']))}")
        if self.private:
            parts.append("also unencrypted and inside your own network")
        if extra := [method for method in targets["readMethods"] if method not in READ_METHODS]:
            parts.append(f"also while only reading, with {', '.join(extra)}")
        return ", ".join(parts)


def _method_faults(method: str, index: int) -> Iterator[TargetFault]:
    if not _METHOD.fullmatch(method):
        yield TargetFault(
            "capability-method", f"{method!r} is not an HTTP method", "use capital letters, as in GET",
            ("readMethods", index),
        )  # fmt: skip
    elif method in _NEVER_READS:
        yield TargetFault(
            "capability-method", f"{method} changes things, so it is no method that reads",
            "leave it out: it stays allowed for tools of posture write", ("readMethods", index),
        )  # fmt: skip


def _canonical_or_none(host: str) -> str | None:
    try:
        return canonical_host(host)
    except ValueError:
        return None


def _canonical_or_same(host: str) -> str:
    return _canonical_or_none(host) or host


def _is_local(canonical: str) -> bool:
    """Whether a canonical host can only be local: an address that is not public, or `localhost`."""
    if canonical == "localhost" or canonical.endswith(".localhost"):
        return True
    is_address = ":" in canonical or canonical.rpartition(".")[2].isdigit()
    return is_address and not is_public(canonical)
