from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yazcore.kinds import FileRequest, Net, NetRequest
from yazcore.kinds.net import canonical_host, is_public

CANONICAL = [
    ("api.zotero.org", "api.zotero.org"),
    ("API.Zotero.ORG", "api.zotero.org"),
    ("api.zotero.org.", "api.zotero.org"),
    ("bücher.example", "xn--bcher-kva.example"),
    ("BÜCHER.example", "xn--bcher-kva.example"),
    ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ("r3---sn-x.example", "r3---sn-x.example"),
    ("192.0.2.1", "192.0.2.1"),
    ("１９２.0.2.1", "192.0.2.1"),
    ("[2001:DB8::1]", "2001:db8::1"),
    ("2001:db8:0:0::1", "2001:db8::1"),
    ("::ffff:192.0.2.1", "192.0.2.1"),
    ("localhost", "localhost"),
]

BAD = [
    "",
    ".",
    "..",
    "a..org",
    "a.org..",
    ".org",
    "*",
    "*.example.com",
    "a.*.org",
    "https://a.org",
    "a.org/",
    "a.org:443",
    "[::1]:443",
    "user@a.org",
    "user:pw@a.org",
    "a.org?x",
    "a.org#x",
    "a.org\\b",
    "a.org%00",
    "evil.org\0.a.org",
    " a.org",
    "a.org\n",
    "a\u200b.org\t",
    "a\u00a0b.org",
    "a_b.org",
    "-a.org",
    "a-.org",
    "xn--a.org",
    "℀.org",
    "127.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "192.0.2.01",
    "192.0.2.256",
    "1.2.3",
    "a.5",
    "::1%eth0",
    "[::1",
    "1::2::3",
    "a" * 64 + ".org",
    "a." * 127 + "org",
    "a" * 300,
]


@pytest.mark.parametrize(("text", "canonical"), CANONICAL)
def test_a_host_has_one_spelling(text: str, canonical: str) -> None:
    assert canonical_host(text) == canonical


@pytest.mark.parametrize("text", BAD)
def test_what_is_not_exactly_a_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        canonical_host(text)


@given(st.text(max_size=60))
def test_canonicalising_twice_changes_nothing(text: str) -> None:
    try:
        once = canonical_host(text)
    except ValueError:
        return
    assert canonical_host(once) == once
    assert once.isascii()
    assert set(once) <= set(string.ascii_lowercase + string.digits + "-.:")


GRANTED = Net(hosts=("api.zotero.org", "192.0.2.7"), private=True)


@given(st.text(max_size=40) | st.from_regex(r"[a-z.\-@:/]{0,10}api\.zotero\.org[a-z.\-@:/]{0,10}", fullmatch=True))
def test_only_the_very_hosts_that_are_named_are_covered(host: str) -> None:
    if GRANTED.covers(NetRequest(host=host)):
        assert canonical_host(host) in {"api.zotero.org", "192.0.2.7"}


@given(st.text(alphabet="abz.-*", max_size=12))
def test_a_wildcard_forced_into_a_grant_matches_nothing(host: str) -> None:
    forced = Net(hosts=("*", "*.example.com", "", "https://x", "x:443", "user@x"))
    assert not forced.covers(NetRequest(host=host))
    assert not forced.covers(NetRequest(host=f"{host}.example.com"))
    assert not forced.covers(NetRequest(host="*.example.com"))


@pytest.mark.parametrize(
    "host", ["api.x.org.evil.com", "notapi.x.org", "x.org", "sub.api.x.org", "", "api.x.org\0.y.org"]
)
def test_look_alikes_are_not_covered(host: str) -> None:
    assert not Net(hosts=("api.x.org",)).covers(NetRequest(host=host))


def test_another_spelling_of_the_same_host_is_covered() -> None:
    assert Net(hosts=("Bücher.example",)).covers(NetRequest(host="XN--BCHER-KVA.example."))


def test_a_port_is_covered_only_if_it_is_named() -> None:
    capability = Net(hosts=("a.org",), ports=(443, 8443))
    assert capability.covers(NetRequest(host="a.org", port=8443))
    assert not capability.covers(NetRequest(host="a.org", port=8080))


def test_plain_http_is_covered_only_with_private() -> None:
    request = NetRequest(host="a.org", port=80, scheme="http")
    assert not Net(hosts=("a.org",), ports=(80,)).covers(request)
    assert Net(hosts=("a.org",), ports=(80,), private=True).covers(request)


@pytest.mark.parametrize("scheme", ["ftp", "file", "ws", "HTTPS", ""])
def test_no_other_scheme_is_covered(scheme: str) -> None:
    assert not Net(hosts=("a.org",), private=True).covers(NetRequest(host="a.org", scheme=scheme))


def test_a_local_address_is_covered_only_with_private() -> None:
    assert not Net(hosts=("127.0.0.1",)).covers(NetRequest(host="127.0.0.1"))
    assert Net(hosts=("127.0.0.1",), private=True).covers(NetRequest(host="127.0.0.1"))


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_every_method_is_covered(method: str) -> None:
    assert Net(hosts=("a.org",)).covers(NetRequest(host="a.org", method=method))


@pytest.mark.parametrize("method", ["", "get", "GET /", "GET\r\nX: y"])
def test_what_is_no_method_is_not_covered(method: str) -> None:
    assert not Net(hosts=("a.org",)).covers(NetRequest(host="a.org", method=method))


def test_get_and_head_read_and_post_does_not() -> None:
    capability = Net(hosts=("a.org",))
    assert capability.reads(NetRequest(host="a.org", method="GET"))
    assert capability.reads(NetRequest(host="a.org", method="HEAD"))
    assert not capability.reads(NetRequest(host="a.org", method="POST"))


def test_a_method_that_is_said_to_read_reads() -> None:
    assert Net(hosts=("a.org",), read_methods=("POST",)).reads(NetRequest(host="a.org", method="POST"))


def test_a_request_for_a_file_is_not_covered() -> None:
    assert not Net(hosts=("a.org",)).covers(FileRequest(area="project", path="a.org"))


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://a.org/secret?token=1", "GET https://a.org:443"),
        ("https://a.org:8443/", "GET https://a.org:8443"),
        ("http://a.org", "GET http://a.org:80"),
        ("https://[2001:db8::1]/", "GET https://[2001:db8::1]:443"),
    ],
)
def test_a_url_becomes_a_request_whose_target_holds_no_path(url: str, target: str) -> None:
    assert NetRequest.of_url("get", url).target == target


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.org",
        "https://",
        "https://user@a.org/",
        "https://:pw@a.org/",
        "https://a.org:99999/",
        "https://a.org:x/",
        "https://a.org\\@b.org/",
        "https://a.org /",
        "https://a.o\nrg/",
        "https://[::1/",
    ],
)
def test_what_is_no_strict_url_is_covered_by_nothing(url: str) -> None:
    request = NetRequest.of_url("GET", url)
    assert request.fault() == "the host is not one: it is empty"
    assert not Net(hosts=("a.org", "b.org"), ports=(443, 80), private=True).covers(request)


PUBLIC = ["8.8.8.8", "2001:4860:4860::8888", "64:ff9b::808:808", "::ffff:8.8.8.8"]
NOT_PUBLIC = [
    "127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1",
    "192.0.2.1", "::1", "::", "fe80::1", "fc00::1", "fec0::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
    "2002:7f00:1::", "::7f00:1", "", "a.org", "127.1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_global_addresses_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_of_this_machine_or_network_are_not_public(address: str) -> None:
    assert not is_public(address)


FAULTS = [
    (Net(hosts=()), "capability-empty", ("hosts",)),
    (Net(hosts=("",)), "capability-empty", ("hosts", 0)),
    (Net(hosts=("a.org", " ")), "capability-empty", ("hosts", 1)),
    (Net(hosts=("*",)), "capability-wildcard", ("hosts", 0)),
    (Net(hosts=("*.example.com",)), "capability-wildcard", ("hosts", 0)),
    (Net(hosts=("https://x",)), "capability-host", ("hosts", 0)),
    (Net(hosts=("x:443",)), "capability-host", ("hosts", 0)),
    (Net(hosts=("user@x",)), "capability-host", ("hosts", 0)),
    (Net(hosts=("127.1",)), "capability-host", ("hosts", 0)),
    (Net(hosts=("127.0.0.1",)), "capability-host-private", ("hosts", 0)),
    (Net(hosts=("localhost",)), "capability-host-private", ("hosts", 0)),
    (Net(hosts=("[::1]",)), "capability-host-private", ("hosts", 0)),
    (Net(hosts=("a.org",), ports=()), "capability-empty", ("ports",)),
    (Net(hosts=("a.org",), ports=(443, 0)), "capability-port", ("ports", 1)),
    (Net(hosts=("a.org",), ports=(65536,)), "capability-port", ("ports", 0)),
    (Net(hosts=("a.org",), read_methods=()), "capability-empty", ("readMethods",)),
    (Net(hosts=("a.org",), read_methods=("*",)), "capability-wildcard", ("readMethods", 0)),
    (Net(hosts=("a.org",), read_methods=("get",)), "capability-method", ("readMethods", 0)),
    (Net(hosts=("a.org",), read_methods=("GET", "DELETE")), "capability-method", ("readMethods", 1)),
]


@pytest.mark.parametrize(("capability", "code", "path"), FAULTS)
def test_a_fault_has_its_code_and_its_place(capability: Net, code: str, path: tuple[str | int, ...]) -> None:
    assert [(fault.code, fault.path) for fault in capability.faults()] == [(code, path)]


def test_a_local_host_is_good_with_private() -> None:
    assert list(Net(hosts=("127.0.0.1", "localhost", "printer"), private=True).faults()) == []


def test_the_text_of_a_fault_says_what_is_wrong_and_what_to_do() -> None:
    (fault,) = Net(hosts=("https://x",)).faults()
    assert fault.message == (
        "'https://x' is not a host name: it holds more than a host: leave out scheme, user, port and path"
    )
    assert fault.fix == "give the host alone, as in api.zotero.org"


def test_targets_written_differently_are_the_same() -> None:
    one = Net(hosts=("B.org", "a.org."), ports=(8443, 443), read_methods=("HEAD", "GET"))
    assert one.identity == Net(hosts=("a.org", "b.org", "A.ORG"), ports=(443, 8443)).identity


@pytest.mark.parametrize(
    ("address", "private", "covered"),
    [("10.0.0.1", False, False), ("10.0.0.1", True, True), ("1.1.1.1", False, True), ("nonsense", False, False)],
)
def test_the_address_a_name_stands_for_must_be_public_or_the_capability_private(
    address: str, private: bool, covered: bool
) -> None:
    assert Net(hosts=("a.org",), private=private).covers(NetRequest(host="a.org", address=address)) is covered
