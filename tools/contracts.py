"""What a contract declares, its digest, and how it can contradict itself. Pure: facts in, answers out.

Two parts. The *definition* says what a call is and does; a run is pinned to it and an approval covers it by
its digest. The *rules* (policy, caps, egress) say what is allowed; the newest published ones always count.
"""

from decimal import Decimal
from typing import Any

from accounts.canonical import digest
from tools.contradictions import contradictions
from tools.models import Contract

__all__ = ["contradictions", "definition", "definition_digest", "rules"]

#: Everything that a run is pinned to. A field of :class:`Contract` is here, in LATER, RULES or BOOKKEEPING.
DEFINITION = (
    "version",
    "adapter",
    "target",
    "config",
    "input_schema",
    "output_schema",
    "effect_class",
    "concerns",
    "risk",
    "weight",
    "native_idempotency",
    "key_memory_seconds",
    "enforces_deadline",
    "result_query",
    "cancellable",
    "retry_safe",
    "compensating_tool",
    "compensation_idempotent",
    "timeout_seconds",
    "quiet_seconds",
    "max_attempts",
    "max_total_seconds",
    "backoff_seconds",
    "retryable_codes",
    "fatal_codes",
    "fallback_tool",
    "takeover_rule",
    "fence_rule",
    "resource",
    "isolation",
    "memory_mb",
    "cpu_seconds",
    "data_residency",
)
#: Part of the definition as well, but only where they say something: declarations from before keep their digest.
LATER: dict[str, Any] = {
    "last_resort": "agent",
    "attempt_tokens": None,
    "attempt_cost": None,
    "query_arguments": {},
    "query_answer": {},
    "compensation_arguments": {},
}
#: Never pinned: the newest published contract decides.
RULES = ("policy", "quota_per_hour", "quota_per_minute", "egress_hosts", "approval_ttl_seconds")
BOOKKEEPING = (
    "id",
    "tenant",
    "tool",
    "status",
    "definition_digest",
    "created_by",
    "created_at",
    "published_by",
    "published_at",
    "published_note",
)


def definition(contract: Contract) -> dict[str, Any]:
    """What the call is and does, as plain JSON values: the bytes behind :func:`definition_digest`."""
    values = {name: _plain(getattr(contract, name)) for name in DEFINITION}
    values |= {
        name: _plain(getattr(contract, name))
        for name, nothing in LATER.items()
        if getattr(contract, name) != nothing
    }
    return {**values, "tool": contract.tool.name, "weight": _plain(Decimal(contract.weight))}


def definition_digest(contract: Contract) -> str:
    """SHA-256 over the canonical definition, hexadecimal."""
    return digest(definition(contract))


def rules(contract: Contract) -> dict[str, Any]:
    """What is allowed, as plain JSON values."""
    return {name: _plain(getattr(contract, name)) for name in RULES}


def _plain(value: Any) -> Any:
    """A value as the database would give it back: choices as text, decimals as the shortest text (1, 1.0
    and 1.00 are one weight)."""
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    if isinstance(value, str):
        return str(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
