"""Who may open a socket and keep it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth import logout
from django.db.models.functions import Now
from django.http import HttpRequest
from django.test import override_settings

from accounts import socket_access
from accounts.access import TENANT_KEY
from accounts.models import Membership, User
from tests.make import people as make

HERE = b"127.0.0.1:8000"


def handshake(*origins: bytes, host: bytes = HERE) -> dict[str, Any]:
    return {
        "type": "websocket",
        "path": "/ws/tasks/",
        "headers": [(b"host", host), *((b"origin", origin) for origin in origins)],
    }


@pytest.mark.parametrize(
    "origins",
    [
        (),
        (b"null",),
        (b"",),
        (b"https://evil.example",),
        (b"http://127.0.0.1:8001",),
        (b"http://127.0.0.1",),
        (b"https://127.0.0.1:8000",),
        (b"http://localhost:8000",),
        (b"http://127.0.0.1:8000.evil.example",),
        (b"http://127.0.0.1:8000@evil.example",),
        (b"http://user@127.0.0.1:8000",),
        (b"http://127.0.0.1:8000/path",),
        (b"http://127.0.0.1:8000", b"https://evil.example"),
        (b"http://[::1",),
        (b"\xff\xfe",),
    ],
)
def test_b72_foreign_null_missing_and_other_ports_are_rejected(origins: tuple[bytes, ...]) -> None:
    """Guards accounts/socket_access.py `origin_allowed` and accounts/addresses.py `same_origin`."""
    assert not socket_access.origin_allowed(handshake(*origins))


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (b"http://127.0.0.1:8000", HERE),
        (b"http://localhost:8000", b"localhost:8000"),
        (b"http://127.0.0.1:8000", b"unknown.example"),
    ],
)
def test_our_own_address_is_let_in(origin: bytes, host: bytes) -> None:
    assert socket_access.origin_allowed(handshake(origin, host=host))


def test_b72_a_host_that_is_not_ours_vouches_for_nobody() -> None:
    """A rebound name sends its own Host; only hosts in ALLOWED_HOSTS count."""
    assert not socket_access.origin_allowed(handshake(b"http://evil.example", host=b"evil.example"))
    with override_settings(CSRF_TRUSTED_ORIGINS=["https://desk.example"]):
        assert socket_access.origin_allowed(handshake(b"https://desk.example", host=b"internal:8000"))


@pytest.mark.django_db
def test_b72_the_handshake_is_closed_before_anything_else() -> None:
    """Guards accounts/socket_access.py `OwnOriginOnly` and its place in config/asgi.py."""
    from config.asgi import application

    async def attempt() -> dict[str, Any]:
        socket: Any = ApplicationCommunicator(application, handshake(b"null"))
        await socket.send_input({"type": "websocket.connect"})
        answer: dict[str, Any] = await socket.receive_output()
        return answer

    assert asyncio.run(attempt())["type"] == "websocket.close"
    assert isinstance(application.application_mapping["websocket"], socket_access.OwnOriginOnly)


def key_of(user: User) -> str:
    return str(make.browser(user).session.session_key)


@pytest.mark.django_db
def test_a_session_of_a_member_may_enter() -> None:
    cast = make.cast()
    visitor = socket_access.enter(key_of(cast.ada))
    assert visitor is not None
    assert (visitor.user_id, visitor.tenant_id) == (cast.ada.pk, cast.tenant.pk)
    assert socket_access.still(visitor) is not None
    for key in (None, "", "unknown"):
        assert socket_access.enter(key) is None


@pytest.mark.django_db
@pytest.mark.parametrize("end", ["logout", "password", "disabled", "membership", "switch", "tenant"])
def test_b71_a_socket_does_not_outlive_the_right_to_it(end: str) -> None:
    """Guards accounts/socket_access.py `still`."""
    cast = make.cast()
    client = make.browser(cast.ada)
    visitor = socket_access.enter(client.session.session_key)
    assert visitor is not None
    if end == "logout":
        request = HttpRequest()
        request.session = client.session
        logout(request)
    elif end == "password":
        cast.ada.set_password("another password 7")
        cast.ada.save()
    elif end == "disabled":
        User.objects.filter(pk=cast.ada.pk).update(is_active=False)
    elif end == "membership":
        Membership.everywhere.filter(user=cast.ada).update(disabled_at=Now())
    else:
        Membership.everywhere.create(tenant=cast.other, user=cast.ada, roles=["submitter"])
        if end == "switch":
            client.post(f"/settings/tenant/{cast.other.pk}/")
        else:
            session = client.session
            session[TENANT_KEY] = cast.other.pk.hex
            session.save()
    assert socket_access.still(visitor) is None
