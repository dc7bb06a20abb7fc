"""Query: a read-only tool asks the far side whether an effect happened, as a step of its own (``query/<step key>/<n>``)
beside the one whose outcome is open (S8).

It is no step of the agent and stands in no order of ended steps. It only reads, so it has no intent, is never UNKNOWN
itself, and leads to no other question. Joins a transaction that holds the run.
"""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from accounts.arrows import move
from accounts.canonical import digest
from accounts.ids import new_id
from outbox.append import Fact
from runs.engine.retry import pause
from runs.engine.workspace import Locked
from runs.models import Step
from runs.states import QUERY
from tools import result_query
from tools.adapters import registry
from tools.models import Contract, Intent
from tools.selectors import by_id, query_tool, verdict

LIVE = (Step.Status.PENDING, Step.Status.RUNNING)


def question(intent: Intent) -> tuple[Contract, dict[str, Any]] | None:
    """The tool and its arguments; None when nothing can be asked now: no query, its tool is gone or does not only read any
    more, is stopped or needs a person, or a value that the question needs is not known."""
    contract = by_id(intent.contract_id)
    tool = query_tool(contract)
    if tool is None:
        return None
    try:
        arguments = result_query.arguments(
            contract.query_arguments, intent=intent, key=registry.kind(contract.adapter).named(intent.key)
        )
    except result_query.CannotAsk:
        return None
    word = verdict(tenant_id=intent.tenant_id, contract=tool, arguments=arguments, run_id=intent.run_id)
    return (tool, arguments) if word.path == "auto" else None


def tries_left(intent: Intent) -> bool:
    """Whether the engine asks once more by itself."""
    return int(intent.asks) < settings.COUNTERSIGN.query_tries


def live(run: Locked, step: Step) -> Step | None:
    """The question about this step that has no answer yet."""
    found: Step | None = _of(run, step).filter(status__in=LIVE).first()
    return found


def delay(intent: Intent) -> float:
    """Seconds before the next question: none before the first, then longer each time."""
    if not intent.asks:
        return 0.0
    return pause(max(1, by_id(intent.contract_id).backoff_seconds), int(intent.asks) - 1)


def plan(run: Locked, step: Step, intent: Intent, *, after: float) -> Step | None:
    """Puts the question ``after`` seconds from now; one that is on its way already is hastened at most. None: nothing can be
    asked."""
    asked = question(intent)
    if asked is None:
        return None
    soon = Now() + timedelta(seconds=after)
    standing = live(run, step)
    if standing is not None:
        Step.everywhere.filter(pk=standing.pk, status=Step.Status.PENDING, not_before__gt=soon).update(
            not_before=soon
        )
        run.moving = True
        return standing
    tool, arguments = asked
    made = _insert(run, step, tool, _input(step, intent, arguments), soon)
    run.moving = True
    wake = {"run_id": run.id.hex, "step_id": made.pk.hex, "attempt": 1}
    run.facts.append(Fact(topic="step.ready", tenant_id=run.tenant_id, payload=wake))
    return made


def drop(run: Locked, step: Step) -> None:
    """Nothing is open any more: a question that nobody has taken yet is not put. The answer to one under way changes
    nothing."""
    for asking in (
        _of(run, step).select_for_update(of=("self",), no_key=True).filter(status=Step.Status.PENDING)
    ):
        move(asking, "cancel", epoch=asking.epoch, changes={"finished_at": Now()})
        payload = {"key": asking.key, "tool": asking.tool, "code": "known"}
        run.event("step.cancelled", step_id=asking.pk, epoch=asking.epoch, payload=payload)


def about(asking: Step) -> uuid.UUID:
    """The step whose effect a question is about."""
    return uuid.UUID(asking.input["about"])


def _of(run: Locked, step: Step) -> Any:
    return Step.everywhere.filter(run_id=run.id, kind=Step.Kind.QUERY, input__about=step.pk.hex)


def _input(step: Step, intent: Intent, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What the child gets, and which dispatch the question is about."""
    assert intent.dispatch_id is not None
    return {"arguments": dict(arguments), "about": step.pk.hex, "dispatch": intent.dispatch_id.hex}


def _insert(run: Locked, step: Step, tool: Contract, given: dict[str, Any], soon: Any) -> Step:
    prefix = f"{QUERY}{step.key[:180]}/"
    earlier = Step.everywhere.filter(run_id=run.id, kind=Step.Kind.QUERY, key__startswith=prefix).count()
    made: Step = Step.everywhere.create(
        id=new_id(),
        run_id=run.id,
        tenant_id=run.tenant_id,
        key=f"{prefix}{earlier + 1}",
        seq=run.head.sequence + len(run.lines) + 1,
        kind=Step.Kind.QUERY,
        title=step.title,
        tool=tool.tool.name,
        contract_id=tool.pk,
        pool=tool.isolation,
        timeout_seconds=tool.timeout_seconds,
        not_before=soon,
        input=given,
        input_digest=digest(given["arguments"]),
    )
    return made
