"""Signing secrets of endpoints: made here, kept sealed, shown once, two valid at a time while they change."""

import base64
import secrets
import uuid
from collections.abc import Iterable

from cryptography.fernet import InvalidToken

from accounts import sealing

PREFIX = "whsec_"
#: Bytes of a secret; Standard Webhooks asks for 24 to 64.
SIZE = 32
_PURPOSE = b"countersign.webhook.1"


class Sealed(Exception):
    """A secret does not open with any key that this process has."""


def new() -> str:
    """A fresh secret in the form that receivers' libraries take."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SIZE)).decode()


def seal(tenant_id: uuid.UUID, secret: str) -> bytes:
    """For the database."""
    return sealing.keys(tenant_id, _PURPOSE).encrypt(secret.encode())


def resealed(tenant_id: uuid.UUID, sealed: Iterable[bytes]) -> list[bytes]:
    """The same under the first of the keys that are set. Raises :class:`Sealed`."""
    return [seal(tenant_id, one) for one in opened(tenant_id, sealed)]


def opened(tenant_id: uuid.UUID, sealed: Iterable[bytes]) -> list[str]:
    """The secrets, in their order. Raises :class:`Sealed`."""
    keys = sealing.keys(tenant_id, _PURPOSE)
    try:
        return [keys.decrypt(bytes(one)).decode() for one in sealed]
    except InvalidToken:
        raise Sealed("A webhook's secret does not open with the keys that are set.") from None
