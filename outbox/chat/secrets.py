"""Addresses of chats, sealed: whoever has one may write there."""

import uuid

from cryptography.fernet import InvalidToken

from accounts import sealing

_PURPOSE = b"countersign.chat.1"


class Sealed(Exception):
    """An address does not open with any key that this process has."""


def seal(tenant_id: uuid.UUID, address: str) -> bytes:
    """For the database."""
    return sealing.keys(tenant_id, _PURPOSE).encrypt(address.encode())


def opened(tenant_id: uuid.UUID, sealed: bytes) -> str:
    """The address. Raises :class:`Sealed`."""
    try:
        return sealing.keys(tenant_id, _PURPOSE).decrypt(bytes(sealed)).decode()
    except InvalidToken:
        raise Sealed("The address of a chat does not open with the keys that are set.") from None
