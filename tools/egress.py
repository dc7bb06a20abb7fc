"""The one place that opens connections for tools. No Django.

Resolves a name once, checks every address it stands for, and connects to a checked address, never to the
name again. Compares the deadline once more just before. Repeats nothing, takes no proxy from the
environment, caps what it reads.
"""

import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import idna

MAX_REPLY_BYTES = 1_000_000
#: Ports of hosts that no contract names.
WEB_PORTS = (80, 443)
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_NAME = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*")
_CHUNK = 16_384
#: Addresses that are public by number and yet belong to the machine's landlord (metadata and host services of clouds).
_LANDLORDS = [
    ipaddress.ip_network(text) for text in ("168.63.129.16/32", "192.0.0.0/24", "100.100.100.200/32")
]
#: Not for everybody, whatever the registry of this Python's version says (RFC 7526, RFC 9637).
_NOT_PUBLIC = [ipaddress.ip_network(text) for text in ("192.88.99.0/24", "3fff::/20")]
#: All of IPv6 that is public. Site-local, IPv4-compatible and translated addresses lie outside.
_PUBLIC_V6 = ipaddress.ip_network("2000::/3")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
#: The middle of an ISATAP address, which a tunnel takes to the IPv4 address at its end (RFC 5214).
_ISATAP = (0x00005EFE, 0x02005EFE)

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class EgressRefused(Exception):
    """No connection was made, nothing was sent. ``code``: ``egress_forbidden``, ``dns_failed``,
    ``connect_failed``, ``tls_failed`` or ``deadline``."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


class TooLong(OSError):
    """The far side sent more than is read; the connection is of no use any more."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """An instant on the machine's clock that also runs while it sleeps."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """So many seconds from now."""
        return cls(time.clock_gettime(_CLOCK) + seconds)

    def left(self) -> float:
        """Seconds until then; zero or less when it has passed."""
        return self.at - time.clock_gettime(_CLOCK)

    def timeout(self) -> float:
        """For a socket. Raises ``TimeoutError`` when nothing is left: a socket takes zero for *do not
        wait*."""
        left = self.left()
        if left <= 0:
            raise TimeoutError("The deadline has passed.")
        return left


def connect(
    host: str,
    port: int,
    *,
    allow_hosts: Sequence[str],
    deadline: Deadline,
    ports: Collection[int] = WEB_PORTS,
) -> socket.socket:
    """A connected socket whose time-out is what is left of the deadline; rules as for :func:`checked`. Raises
    :class:`EgressRefused`."""
    name, addresses = checked(host, port, allow_hosts=allow_hosts, deadline=deadline, ports=ports)
    error: OSError | None = None
    for family, address in addresses:
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(deadline.timeout())
            sock.connect(address)
            return sock
        except TimeoutError as late:
            sock.close()
            if deadline.left() <= 0:
                raise EgressRefused("deadline", f"{name}:{port} was not reached in time.") from late
            error = late
        except OSError as failed:
            sock.close()
            error = failed
    raise EgressRefused("connect_failed", f"{name}:{port} cannot be reached: {error}") from error


def checked(
    host: str,
    port: int,
    *,
    allow_hosts: Sequence[str],
    deadline: Deadline,
    ports: Collection[int] = WEB_PORTS,
) -> tuple[str, list[tuple[int, tuple[str, int]]]]:
    """The host's name as the network sees it, and the addresses (family, address) that may be connected to, for a library
    that connects by itself: it must take one of these and never the name.

    ``allow_hosts`` are exact host names in lower case, each with or without ``:port``. When there are any,
    no other host is connected to, and a named one may have a private address and any port; without any,
    every public address is allowed on ``ports``. Raises :class:`EgressRefused`.
    """
    name = _name(host)
    named = _is_named(name, port, allow_hosts)
    if allow_hosts and not named:
        raise EgressRefused(
            "egress_forbidden", f"{name}:{port} is not among the hosts that this tool may reach."
        )
    if not named and port not in ports:
        raise EgressRefused("egress_forbidden", f"{name}:{port} is not a port that this tool may reach.")
    addresses = _resolve(name, port, deadline)
    for _, address in addresses:
        if not named and (why := forbidden(address[0])):
            raise EgressRefused("egress_forbidden", f"{name} leads to {address[0]}, {why}: not connected.")
    return name, addresses


def forbidden(address: str) -> str:
    """Why an address is never connected to unless its host is named; empty when it is public. IPv4 inside
    IPv6 (mapped, 6to4, Teredo, NAT64) is judged by the IPv4 address."""
    try:
        ip: IPAddress = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "which is no address"
    inside = _inside(ip)
    if ip.version == 6 and ip not in _PUBLIC_V6 and not inside and not (ip.is_loopback or ip.is_unspecified):
        return "an address that is not public"
    for one in (ip, *inside):
        if any(one in net for net in _LANDLORDS if net.version == one.version):
            return "a service of the cloud's own"
        if one.is_loopback or one.is_unspecified:
            return "this machine"
        if one.is_link_local:
            return "a link-local address"
        reserved = any(one in net for net in _NOT_PUBLIC if net.version == one.version)
        if reserved or one.is_multicast or not one.is_global:
            return "an address that is not public"
    return ""


def secure(sock: socket.socket, host: str, deadline: Deadline) -> ssl.SSLSocket:
    """TLS over a connected socket; the certificate must be good for ``host``. Raises
    :class:`EgressRefused`."""
    try:
        sock.settimeout(deadline.timeout())
        return ssl.create_default_context().wrap_socket(sock, server_hostname=host)
    except (OSError, ValueError) as error:
        sock.close()
        raise EgressRefused("tls_failed", f"No secure connection to {host}: {error}") from error


def hung_up(sock: socket.socket) -> bool:
    """The far side has closed or reset the connection already, without waiting for it. Over TLS that is not
    seen: False."""
    if isinstance(sock, ssl.SSLSocket):
        return False
    before = sock.gettimeout()
    sock.setblocking(False)
    try:
        return not sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        sock.settimeout(before)


class Reader:
    """Reads lines of a socket with one deadline for all of them and a cap on their bytes; a far side that
    sends one byte at a time gains nothing."""

    def __init__(self, sock: socket.socket, deadline: Deadline, *, cap: int = MAX_REPLY_BYTES) -> None:
        self.sock, self.deadline, self.left, self.buffer = sock, deadline, cap, bytearray()

    def readline(self, limit: int = _CHUNK) -> bytes:
        """A line with its end, ``limit`` bytes of a longer one, or what there was before the end of the
        stream."""
        while (end := self.buffer.find(b"\n")) < 0 and len(self.buffer) < limit:
            self.sock.settimeout(self.deadline.timeout())
            data = self.sock.recv(_CHUNK)
            if not data:
                end = len(self.buffer) - 1
                break
            self.left -= len(data)
            if self.left < 0:
                raise TooLong("The far side sent more than is read.")
            self.buffer += data
        size = min(end + 1 if end >= 0 else limit, limit, len(self.buffer))
        line = bytes(self.buffer[:size])
        del self.buffer[:size]
        return line

    def close(self) -> None:
        """Forgets what was read and not yet taken; the socket has an owner of its own."""
        self.buffer.clear()


def _name(host: str) -> str:
    """A host as the network sees it. Refuses what is no host name: user info, paths, spaces, zone ids."""
    name = host.strip("[]") if host.startswith("[") else host
    name = name.lower().rstrip(".")
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            name = ""
    if not _NAME.fullmatch(name):
        raise EgressRefused("egress_forbidden", f"{host[:100]!r} is not a host name.")
    return name


def _is_named(name: str, port: int, allow_hosts: Sequence[str]) -> bool:
    shown = f"[{name}]" if ":" in name else name
    return any(entry in (name, shown, f"{shown}:{port}") for entry in allow_hosts)


def _resolve(name: str, port: int, deadline: Deadline) -> list[tuple[int, tuple[str, int]]]:
    """All addresses of a name, in the order of the resolver. Asked once; the resolver of the system knows no time limit, so
    it is asked from a thread that may be left behind."""
    found: list[list[Any]] = []
    faults: list[Exception] = []

    def ask() -> None:
        try:
            found.append(socket.getaddrinfo(name, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            faults.append(error)

    asking = threading.Thread(target=ask, name="resolve", daemon=True)
    asking.start()
    asking.join(max(deadline.left(), 0))
    if faults:
        raise EgressRefused("dns_failed", f"The host {name} is not known: {faults[0]}") from faults[0]
    if not found:
        raise EgressRefused("deadline", f"The address of {name} was not told in time.")
    return [(family, address) for family, _, _, _, address in found[0]]


def _inside(ip: IPAddress) -> list[IPAddress]:
    if not isinstance(ip, ipaddress.IPv6Address):
        return []
    teredo = ip.teredo
    found: list[IPAddress | None] = [ip.ipv4_mapped, ip.sixtofour, *(teredo or ())]
    if ip in _NAT64 or (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP:
        found.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    return [one for one in found if one is not None]
