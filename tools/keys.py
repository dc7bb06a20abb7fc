"""Names that never change: the idempotency key of an effect (L8), and the digest of exactly what is asked."""

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from accounts.canonical import digest

#: Of the column that holds it.
LONGEST = 300


def key_for(*, tenant_id: uuid.UUID, lineage: uuid.UUID, step_key: str, tool: str) -> str:
    """Tenant, lineage of the run, stable step key, tool (L8). An undo passes ``undo/<step key>``.

    Never a retry number, never a hash of the arguments: two attempts, and two slightly different proposals,
    of one step are one effect. A step key too long for the column is replaced by its SHA-256, so two long
    keys stay two keys.
    """
    for name, part in (("step key", step_key), ("tool", tool)):
        if not part or any(ord(sign) < 32 for sign in part):
            raise ValueError(f"The {name} of an effect is empty or holds control characters.")
    # The separator may stand in a step key; the tool may not hold it, so two different quadruples never meet.
    if ":" in tool:
        raise ValueError("The name of a tool holds no colon.")
    key = f"{tenant_id.hex}:{lineage.hex}:{step_key}:{tool}"
    if len(key) <= LONGEST:
        return key
    short = hashlib.sha256(step_key.encode()).hexdigest()
    return f"{tenant_id.hex}:{lineage.hex}:sha256-{short}:{tool}"


def request_digest(
    *,
    tenant_id: uuid.UUID,
    key: str,
    tool: str,
    contract_digest: str,
    arguments: Mapping[str, Any],
    target: str,
) -> str:
    """SHA-256 over everything that makes a request this one and no other: an approval holds for this alone
    (B52)."""
    return digest(
        {
            "tenant": tenant_id.hex,
            "key": key,
            "tool": tool,
            "contract": contract_digest,
            "arguments": dict(arguments),
            "target": target,
        }
    )
