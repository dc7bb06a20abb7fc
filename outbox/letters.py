"""The port of the accounts room: it asks for letters by kind and must not know who carries them."""

import uuid
from collections.abc import Mapping
from typing import Any

from outbox.append import append

KINDS = ("password-reset", "invitation")


def post(*, kind: str, tenant_id: uuid.UUID | None, payload: Mapping[str, Any]) -> None:
    """Append ``letter.<kind>``. Joins the caller's transaction."""
    append(topic=f"letter.{kind}", tenant_id=tenant_id, payload=payload)
