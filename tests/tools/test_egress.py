"""The one place that opens connections: what it never connects to, and what it does with a far side that dawdles."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from tests.adapters.far_sides import Scripted
from tools import egress
from tools.egress import Deadline, EgressRefused, Reader

PRIVATE = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1", "255.255.255.255", "198.18.0.1",
    "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::", "not an address",
    "::7f00:1", "::a9fe:a9fe", "64:ff9b:1::7f00:1", "::ffff:0:7f00:1", "fec0::1", "5f00::1", "3fff::1", "2001:db8::1",
    "2606:4700::5efe:7f00:1", "240.0.0.1", "192.88.99.1", "0.1.2.3",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", PRIVATE)
def test_b76_addresses_that_are_never_connected_to(address):
    """Guards ``tools/egress.py`` (``forbidden``): inside IPv6 the IPv4 address counts."""
    assert egress.forbidden(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_not_refused(address):
    assert not egress.forbidden(address)


@pytest.fixture
def echo():
    def script(sock: socket.socket) -> None:
        sock.sendall(b"hello\n")
        sock.recv(100)

    server = Scripted(script)
    yield server
    server.stop()


#: Ways to write this machine. The resolver understands them all, so the check comes after it.
LOOPBACKS = [
    "127.0.0.1",
    "127.0.0.1.",
    "localhost",
    "LOCALHOST.",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "[::ffff:127.0.0.1]",
    "0",
]


@pytest.mark.parametrize("host", LOOPBACKS)
def test_b76_no_spelling_of_a_private_address_is_connected_to(echo, host):
    """Guards ``tools/egress.py`` (``connect``): the resolved address is judged, not the way it is written."""
    with pytest.raises(EgressRefused) as refused:
        egress.connect(host, echo.port, allow_hosts=[], deadline=Deadline.after(5), ports=[echo.port])
    assert refused.value.code == "egress_forbidden"


@pytest.mark.parametrize(
    "host",
    ["user@127.0.0.1", "127.0.0.1/x", "a b", "", "host\x00", "host\r\n", "fe80::1%eth0", "a.example#b"],
)
def test_b76_what_is_no_host_name_is_refused(host):
    with pytest.raises(EgressRefused) as refused:
        egress.connect(host, 25, allow_hosts=[], deadline=Deadline.after(5))
    assert refused.value.code == "egress_forbidden"


def test_b76_the_name_is_resolved_once_and_the_checked_address_is_connected_to(echo, monkeypatch):
    """Guards ``tools/egress.py`` (``connect``): the name is asked for once, and what is connected to is the address that
    was judged. Only the resolver is played, and this machine's address counts as public: no other resolver knows the
    name, so whoever connects to the name instead of the address fails."""
    asked: list[str] = []
    judged: list[str] = []

    def resolve(name: str, port: int, **kwargs: object) -> list[object]:
        asked.append(name)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    def judge(address: str) -> str:
        judged.append(address)
        return ""

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(egress, "forbidden", judge)
    with egress.connect(
        "rebinding.invalid", echo.port, allow_hosts=[], deadline=Deadline.after(5), ports=[echo.port]
    ) as sock:
        assert sock.getpeername() == ("127.0.0.1", echo.port)
    assert asked == ["rebinding.invalid"]
    assert judged == ["127.0.0.1"]


def test_b76_one_private_address_among_public_ones_is_refused(monkeypatch, echo):
    answers = [
        (socket.AF_INET, 1, 6, "", ("127.0.0.1", echo.port)),
        (socket.AF_INET, 1, 6, "", ("8.8.8.8", 1)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: answers)
    with pytest.raises(EgressRefused, match="this machine"):
        egress.connect("mixed.example", 443, allow_hosts=[], deadline=Deadline.after(1))


@pytest.mark.parametrize("entry", ["127.0.0.1", "127.0.0.1:{port}"])
def test_a_named_host_may_be_private(echo, entry):
    allowed = [entry.format(port=echo.port)]
    with egress.connect("127.0.0.1", echo.port, allow_hosts=allowed, deadline=Deadline.after(5)) as sock:
        assert sock.recv(100) == b"hello\n"


@pytest.mark.parametrize("entries", [["127.0.0.1:1"], ["127.0.0.2"], ["localhost"], ["27.0.0.1"], [".0.0.1"]])
def test_only_the_exact_host_and_port_are_named(echo, entries):
    with pytest.raises(EgressRefused) as refused:
        egress.connect("127.0.0.1", echo.port, allow_hosts=entries, deadline=Deadline.after(5))
    assert refused.value.code == "egress_forbidden"


@pytest.mark.parametrize("port", [22, 25, 5432, 6379, 8000])
def test_c27_a_host_that_nobody_named_is_reached_on_web_ports_alone(port):
    with pytest.raises(EgressRefused, match="not a port"):
        egress.connect("example.org", port, allow_hosts=[], deadline=Deadline.after(1))


def test_no_proxy_of_the_environment_is_used(echo, monkeypatch):
    for name in ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    allowed = [f"127.0.0.1:{echo.port}"]
    with egress.connect("127.0.0.1", echo.port, allow_hosts=allowed, deadline=Deadline.after(5)) as sock:
        assert sock.recv(100) == b"hello\n"


def test_a_resolver_that_hangs_is_not_waited_for(monkeypatch):
    """The resolver of the system knows no limit of ours."""
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(60))
    with pytest.raises(EgressRefused) as refused:
        egress.connect("slow.example", 443, allow_hosts=[], deadline=Deadline.after(0.2))
    over.set()
    assert refused.value.code == "deadline"


def test_the_deadline_is_looked_at_just_before(echo):
    with pytest.raises(EgressRefused) as refused:
        egress.connect("127.0.0.1", echo.port, allow_hosts=["127.0.0.1"], deadline=Deadline.after(0))
    assert refused.value.code == "deadline"


def test_an_unknown_name_is_said_so(monkeypatch):
    def resolve(*args, **kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(EgressRefused) as refused:
        egress.connect("nowhere.invalid", 443, allow_hosts=[], deadline=Deadline.after(5))
    assert refused.value.code == "dns_failed"


def test_a_far_side_that_sends_one_byte_at_a_time_gains_no_time():
    def drip(sock: socket.socket) -> None:
        while True:
            sock.sendall(b"x")
            time.sleep(0.05)

    server = Scripted(drip)
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port)) as sock, pytest.raises(TimeoutError):
        Reader(sock, Deadline.after(0.5)).readline()
    server.stop()
    assert time.monotonic() - started < 3


def test_what_is_read_is_capped():
    def flood(sock: socket.socket) -> None:
        while True:
            sock.sendall(b"250-more\r\n" * 1000)

    server = Scripted(flood)
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        reader = Reader(sock, Deadline.after(10), cap=50_000)
        with pytest.raises(egress.TooLong):
            list(iter(reader.readline, b""))
    server.stop()


def test_lines_are_cut_where_they_end():
    def talk(sock: socket.socket) -> None:
        sock.sendall(b"one\r\ntwo\n" + b"x" * 20 + b"\nrest")
        sock.shutdown(socket.SHUT_WR)
        sock.recv(1)

    server = Scripted(talk)
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        reader = Reader(sock, Deadline.after(5))
        lines = [
            reader.readline(),
            reader.readline(),
            reader.readline(8),
            reader.readline(100),
            reader.readline(),
        ]
        assert lines == [b"one\r\n", b"two\n", b"x" * 8, b"x" * 12 + b"\n", b"rest"]
        assert reader.readline() == b""
    server.stop()
