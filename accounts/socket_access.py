"""Who may open a socket, and whether they still may: asked in the handshake, at each message and at an
interval.

Sockets are read-only. The handshake needs an Origin that equals one of ours in scheme, host and port (fault
B72); rights come from the database each time (fault B71).
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.contrib.auth import get_user as session_user
from django.contrib.sessions.backends.base import SessionBase
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.utils.module_loading import import_string

from accounts import access, rights
from accounts.addresses import same_origin
from accounts.models import Membership


@dataclass(frozen=True, slots=True)
class Visitor:
    """The person behind a socket, as found in the handshake."""

    session_key: str
    user_id: uuid.UUID
    tenant_id: uuid.UUID


def origin_allowed(scope: Mapping[str, Any]) -> bool:
    """The handshake carries exactly one Origin, and it is ours. Missing, ``null``, foreign, another port:
    no."""
    origins = [value for name, value in scope.get("headers", []) if name.lower() == b"origin"]
    if len(origins) != 1:
        return False
    return same_origin(origins[0].decode("latin-1"), allowed_origins(scope))


class OwnOriginOnly:
    """ASGI: closes the handshake of a socket whose Origin is not exactly ours, before anything else sees it."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        if scope["type"] == "websocket" and not origin_allowed(scope):
            return await WebsocketDenier()(scope, receive, send)
        return await self.app(scope, receive, send)


def allowed_origins(scope: Mapping[str, Any]) -> list[str]:
    """The public address, those in CSRF_TRUSTED_ORIGINS, and the very address this handshake was sent to
    when its host is in ALLOWED_HOSTS (so that ``localhost`` works beside ``127.0.0.1``)."""
    allowed = [settings.PUBLIC_URL, *settings.CSRF_TRUSTED_ORIGINS]
    request = HttpRequest()
    hosts = [value.decode("latin-1") for name, value in scope.get("headers", []) if name.lower() == b"host"]
    if len(hosts) == 1:
        request.META["HTTP_HOST"] = hosts[0]
        scheme = "https" if settings.PUBLIC_URL.startswith("https://") else "http"
        try:
            allowed.append(f"{scheme}://{request.get_host()}")
        except DisallowedHost:
            return allowed
    return allowed


def enter(session_key: str | None) -> Visitor | None:
    """The person of a session cookie who is a member now, or None. Blocking: call it in a thread."""
    if not session_key:
        return None
    request = _request(session_key)
    if not request.user.is_authenticated:
        return None
    found = access.current_membership(request)
    return Visitor(session_key, found.user_id, found.tenant_id) if found else None


def still(visitor: Visitor) -> Membership | None:
    """The visitor's live membership, or None when they signed out, changed the password, were disabled,
    lost the membership or chose another tenant. Blocking: call it in a thread."""
    now = enter(visitor.session_key)
    if now != visitor:
        return None
    return rights.membership(user_id=visitor.user_id, tenant_id=visitor.tenant_id)


def _request(session_key: str) -> HttpRequest:
    """A request that holds only the session: enough for Django to check backend and password hash."""
    engine = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
    session: SessionBase = engine(session_key)
    request = HttpRequest()
    request.session = session
    request.user = session_user(request)
    return request
