"""The contracts that a tenant starts with: the tools of the shipped agents, and those of benches and
drills."""

import math
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_noop

from accounts.models import Tenant
from tools.contracts import definition_digest, rules
from tools.models import Contract, EffectClass, Risk, Tool
from tools.publish import draft, put_in_force

_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_MAIL_SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "minLength": 3, "maxLength": 254},
        "subject": {"type": "string", "minLength": 1, "maxLength": 500},
        "text": {"type": "string", "minLength": 1, "maxLength": 200_000},
        "attachments": {
            "type": "array",
            "maxItems": 20,
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 200},
                    "sha256": _DIGEST,
                    "size": {"type": "integer", "minimum": 0},
                    "media_type": {"type": "string", "maxLength": 100},
                },
                "required": ["name", "sha256", "size"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["to", "subject", "text"],
    "additionalProperties": False,
}


def seed(tenant: Tenant, *, drills: bool = True) -> list[Contract]:
    """Publishes the sample contracts; one that is in force as declared here stays as it is. Joins a
    transaction. Without ``drills`` the tenant gets the tools of the shipped agents alone.

    The tenant needs an approver first: a contract whose policy nobody can satisfy is not published.
    """
    with transaction.atomic():
        declared = [*_work(), *_drills()] if drills else _work()
        found = [_newest(tenant, **sample) for sample in declared]
        # A tool and what undoes it name each other: they come into force together.
        drafts = {one.tool.name: one for one in found if one.status == Contract.Status.DRAFT}
        return [
            put_in_force(contract_id=one.pk, by=None, beside=drafts) if one.tool.name in drafts else one
            for one in found
        ]


def _newest(tenant: Tenant, *, name: str, title: str, description: str, **declared: Any) -> Contract:
    """What is in force, if it is as declared here; else a draft of it."""
    tool, _ = Tool.everywhere.get_or_create(
        tenant=tenant, name=name, defaults={"title": title, "description": description}
    )
    rows = Contract.everywhere.select_related("tool")
    current: Contract | None = rows.filter(tool=tool, status=Contract.Status.PUBLISHED).first()
    if current is not None:
        wanted = Contract(tenant=tenant, tool=tool, version=current.version, **declared)
        if definition_digest(wanted) == current.definition_digest and rules(wanted) == rules(current):
            return current
    return draft(tool=tool, **declared)


def _work() -> list[dict[str, Any]]:
    engine = settings.COUNTERSIGN
    parsing = {
        "adapter": "python",
        "effect_class": EffectClass.READ_ONLY,
        "isolation": Contract.Isolation.PROCESS,
        "timeout_seconds": math.ceil(engine.parse_seconds),
        "cpu_seconds": math.ceil(engine.parse_seconds),
        "memory_mb": engine.parse_memory_mb,
    }
    return [
        {
            "name": "contracts.review",
            "title": gettext_noop("Review a contract"),
            "description": "Reads one document, finds and quotes its clauses, and rates the risk.",
            "target": "contracts.review",
            **parsing,
        },
        {
            "name": "contracts.join",
            "title": gettext_noop("Write the report"),
            "description": "Joins the findings into a report and a table, and proposes a notice.",
            "target": "contracts.join",
            **parsing,
        },
        {
            "name": "mail.send",
            "title": gettext_noop("Send an e-mail"),
            "description": "Sends one e-mail in the tenant's name to one address.",
            "adapter": "smtp",
            "effect_class": EffectClass.IRREVERSIBLE,
            "concerns": Contract.Concerns.COMMITMENT,
            "risk": Risk.HIGH,
            "weight": 10,
            "isolation": Contract.Isolation.THREAD,
            "timeout_seconds": 60,
            "quiet_seconds": math.ceil(engine.quiet_seconds),
            "approval_ttl_seconds": math.ceil(engine.approval_ttl_seconds),
            "retryable_codes": ["smtp_try_later", "connect_failed"],
            "input_schema": _MAIL_SCHEMA,
        },
    ]


def _drills() -> list[dict[str, Any]]:
    """One tool for each way in which a tool can behave."""
    reading = {"adapter": "python", "effect_class": EffectClass.READ_ONLY}
    apart = {
        "isolation": Contract.Isolation.PROCESS,
        "timeout_seconds": 30,
        "cpu_seconds": 20,
        "memory_mb": 512,
    }
    plain: list[tuple[str, str, dict[str, Any]]] = [
        ("drill.noop", "Do nothing", {}),
        ("drill.sleep", "Wait without blocking", {"timeout_seconds": 3600, "cancellable": True}),
        ("drill.gate", "Wait until a file is there", {"timeout_seconds": 3600, "cancellable": True}),
        ("drill.stall", "Go on a little, then hang", {"timeout_seconds": 3600, "cancellable": True}),
        (
            "drill.grind",
            "Burn processor time in a thread",
            {"isolation": Contract.Isolation.THREAD, "timeout_seconds": 600, "target": "drill.busy"},
        ),
        ("drill.nul", "Return text that no database can hold", {}),
        ("drill.pid", "Tell the process", {}),
        (
            "drill.nap",
            "Wait and block a thread",
            {"isolation": Contract.Isolation.THREAD, "timeout_seconds": 600},
        ),
        ("drill.busy", "Burn processor time", apart),
        ("drill.hog", "Take all memory", apart),
        ("drill.crash", "End the process", apart),
        ("drill.starve", "End the process when memory is refused", apart),
        ("drill.spend", "Use some of the budget", {}),
        ("drill.redos", "Never come back from a regular expression", {**apart, "timeout_seconds": 5}),
    ]
    samples = [_drill(name, title, {**reading, **rest}) for name, title, rest in plain]
    effect = {"adapter": "python", "isolation": Contract.Isolation.THREAD, "concerns": Contract.Concerns.DATA}
    undone = {**effect, "effect_class": EffectClass.COMPENSABLE}
    return [
        *samples,
        _drill("drill.effect", "An effect that can be undone", {**undone, "compensating_tool": "drill.undo"}),
        _drill("drill.undo", "The undo of that effect", {**undone, "compensating_tool": "drill.effect"}),
        _drill(
            "drill.effect_keyed",
            "An effect whose far side drops repeats of a key",
            {
                **undone,
                "compensating_tool": "drill.undo",
                "risk": Risk.HIGH,
                "native_idempotency": True,
                "retry_safe": True,
            },
        ),
        _drill(
            "drill.post",
            "An effect at a service",
            {**undone, "isolation": Contract.Isolation.ASYNC, "compensating_tool": "drill.undo"},
        ),
        _drill(
            "drill.effect_final",
            "An effect that cannot be undone",
            {**effect, "effect_class": EffectClass.IRREVERSIBLE, "risk": Risk.HIGH},
        ),
    ]


def _drill(name: str, title: str, declared: dict[str, Any]) -> dict[str, Any]:
    description = "For benches and drills."
    return {"target": name, **declared, "name": name, "title": title, "description": description}
