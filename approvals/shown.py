"""What a person is shown, as bytes: the one thing that is rendered, digested, decided on and compared again
at begin.

The bytes are RFC 8785 canonical JSON. Whatever stands outside them is not on the page, and whatever changes
in them is a different question with a different digest (faults.md, checklist 13 and 14).
"""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from accounts import canonical
from accounts.models import Tenant
from tools import contracts, previews, vault
from tools.adapters import registry
from tools.models import Contract, Intent

VERSION: Final = 1
MAX_BYTES: Final = 20_000_000

#: What must still be equal when the effect begins, and how a difference is called.
BOUND: Final = (
    "tenant",
    "run",
    "step",
    "epoch",
    "intent",
    "intent_key",
    "tool",
    "tool_id",
    "contract_version",
    "definition_digest",
    "arguments",
    "target",
    "credentials",
    "sender",
    "rules_digest",
)


def bound_facts(*, intent: Intent, contract: Contract, tenant: Tenant, epoch: int) -> dict[str, Any]:
    """The facts an approval is bound to, as they are now: read when it opens and again at begin."""
    return {
        "tenant": tenant.pk.hex,
        "run": intent.run_id.hex,
        "step": intent.step_id.hex,
        "epoch": epoch,
        "intent": intent.pk.hex,
        "intent_key": intent.key,
        "tool": contract.tool.name,
        "tool_id": contract.tool_id.hex,
        "contract_version": contract.version,
        "definition_digest": contracts.definition_digest(contract),
        "arguments": intent.arguments,
        "target": intent.target,
        "credentials": credentials(contract),
        "sender": previews.tenant_facts(tenant),
        "rules_digest": rules_digest(tool_id=contract.tool_id),
    }


def credentials(contract: Contract) -> list[dict[str, str | None]]:
    """The secrets that the call would use: by name, and when each was last set; None when it is not set. Encrypting it
    anew with another key of the installation is no change."""
    return [
        {"name": name, "set_at": at.astimezone(UTC).isoformat() if at else None}
        for name, at in vault.generations(
            tenant_id=contract.tenant_id, names=registry.kind(contract.adapter).secrets(contract.config)
        ).items()
    ]


def rules_digest(*, tool_id: uuid.UUID) -> str:
    """Digest of the approval rules in force for a tool: those of its newest published contract, whatever
    version the run is pinned to. Empty when none is published, which no approval can equal.
    """
    rules = (
        Contract.everywhere.filter(tool_id=tool_id, status=Contract.Status.PUBLISHED)
        .values("policy", "approval_ttl_seconds")
        .first()
    )
    return canonical.digest(rules) if rules else ""


def contract_facts(contract: Contract) -> dict[str, Any]:
    """What the tool can do, for the page."""
    return {
        "title": contract.tool.title,
        "adapter": contract.adapter,
        "effect_class": contract.effect_class,
        "concerns": contract.concerns,
        "risk": contract.risk,
        "native_idempotency": contract.native_idempotency,
        "retry_safe": contract.retry_safe,
        "result_query": contract.result_query,
        "compensating_tool": contract.compensating_tool,
        "enforces_deadline": contract.enforces_deadline,
        "timeout_seconds": contract.timeout_seconds,
        "quiet_seconds": contract.quiet_seconds,
    }


def approval(
    *,
    action_id: uuid.UUID,
    bound: Mapping[str, Any],
    contract: Contract,
    generation: int,
    submitter: Mapping[str, str],
    agent: str,
    sentence: str,
    risk: str,
    irreversible: bool,
    second_gesture: str,
    preview: Mapping[str, Any],
    rationale: str,
    evidence: Sequence[Any],
    policy: Mapping[str, Any],
    verdicts: Sequence[str],
    expires_at: datetime,
    replaces: Mapping[str, Any] | None = None,
    edited: Mapping[str, str] | None = None,
    sent_back: Mapping[str, str] | None = None,
) -> bytes:
    """The bytes of a question of kind *approve*."""
    return canonical.canonical(
        {
            **bound,
            "v": VERSION,
            "kind": "approve",
            "action": action_id.hex,
            "generation": generation,
            "contract": contract_facts(contract),
            "submitter": dict(submitter),
            "agent": agent,
            "sentence": sentence,
            "risk": risk,
            "irreversible": irreversible,
            "second_gesture": second_gesture,
            "preview": dict(preview),
            "attachments": attachments(preview),
            "rationale": rationale,
            "evidence": list(evidence),
            "policy": dict(policy),
            "verdicts": list(verdicts),
            "expires_at": expires_at.isoformat(),
            "replaces": dict(replaces) if replaces else None,
            "edited": dict(edited) if edited else None,
            "sent_back": dict(sent_back) if sent_back else None,
        }
    )


def question(
    *,
    action_id: uuid.UUID,
    kind: str,
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    step_id: uuid.UUID | None,
    epoch: int,
    submitter: Mapping[str, str],
    sentence: str,
    facts: Any,
    policy: Mapping[str, Any],
    verdicts: Sequence[str],
    intent: Intent | None = None,
) -> bytes:
    """The bytes of a question of kind *settle*, *take over* or *answer*. For *settle* the effect is named as it was
    sent.
    """
    effect: dict[str, Any] = {}
    if intent is not None:
        effect = {
            "intent": intent.pk.hex,
            "intent_key": intent.key,
            "tool": intent.contract.tool.name,
            "contract_version": intent.contract.version,
            "contract": contract_facts(intent.contract),
            "arguments": intent.arguments,
            "target": intent.target,
        }
    return canonical.canonical(
        {
            **effect,
            "v": VERSION,
            "kind": kind,
            "action": action_id.hex,
            "generation": 1,
            "tenant": tenant_id.hex,
            "run": run_id.hex,
            "step": step_id.hex if step_id else "",
            "epoch": epoch,
            "submitter": dict(submitter),
            "sentence": sentence,
            "facts": facts,
            "policy": dict(policy),
            "verdicts": list(verdicts),
        }
    )


def attachments(preview: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Name, size and SHA-256 of every file that would go along, as the preview names them."""
    return [
        {"name": str(part.get("name", "")), "size": part.get("size"), "sha256": str(part.get("sha256", ""))}
        for part in preview.get("attachments") or ()
    ]


def digest_of(data: bytes | memoryview) -> str:
    """SHA-256 of the shown bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read(data: bytes | memoryview) -> dict[str, Any]:
    """The shown bytes as values. Strict: bytes that nobody here writes raise ``BadInput``."""
    value = canonical.strict_loads(bytes(data), max_depth=canonical.MAX_DEPTH + 8, max_bytes=MAX_BYTES)
    assert isinstance(value, dict)
    return value
