"""Where a request came from, for limits and the audit chain; and the origins that may open a socket."""

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
IPV6_PREFIX = 64


def client_address(meta: Mapping[str, Any], *, trusted_proxies: int | None = None) -> str:
    """The address of the client: that of the connection, unless ``TRUSTED_PROXIES`` says how many proxies
    of ours stand in front, each of which appends one address to X-Forwarded-For (fault B73).

    An IPv6 client is its /64 network, because one line owns all of it.
    """
    proxies = settings.TRUSTED_PROXIES if trusted_proxies is None else trusted_proxies
    found = str(meta.get("REMOTE_ADDR") or "")
    if proxies > 0:
        hops = [hop.strip() for hop in str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",") if hop.strip()]
        found = hops[-proxies] if len(hops) >= proxies else found
    try:
        address = ipaddress.ip_address(found)
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False).network_address)
    return str(address)


def origin_of(text: str) -> tuple[str, str, int] | None:
    """``(scheme, host, port)`` of an origin, or None when it is not one (``null``, a path, no host)."""
    try:
        parts = urlsplit(text)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        return None
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or parts.path
        or parts.query
        or parts.fragment
    ):
        return None
    return (parts.scheme, parts.hostname.lower(), port) if parts.username is None else None


def same_origin(origin: str, allowed: Iterable[str]) -> bool:
    """The origin equals one of those allowed in scheme, host and port; no patterns, no leading dots."""
    found = origin_of(origin)
    return found is not None and found in {origin_of(one) for one in allowed}
