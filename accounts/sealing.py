"""Keys for what is kept encrypted: each tenant has one of its own for each purpose, derived (HKDF, RFC 5869) from those of
the installation. The first of ``VAULT_KEYS`` encrypts, all of them open."""

import base64
import uuid

from cryptography.fernet import Fernet, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def keys(tenant_id: uuid.UUID, purpose: bytes) -> MultiFernet:
    """What seals and opens for this tenant and purpose; text of another tenant or purpose raises ``InvalidToken``."""
    return MultiFernet([_fernet(key, tenant_id, purpose) for key in settings.VAULT_KEYS])


def _fernet(key: str, tenant_id: uuid.UUID, purpose: bytes) -> Fernet:
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose + b"\0" + tenant_id.bytes)
    return Fernet(base64.urlsafe_b64encode(derive.derive(key.encode())))
