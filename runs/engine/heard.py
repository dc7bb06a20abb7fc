"""Heard: what the far side said when it was asked whether an effect happened, and who asks when (S8).

An answer counts only for the dispatch that it was asked about. Whatever else became known meanwhile stands: a confirmation
of the sender comes first, always. Lock order: run, steps in the order question, effect, then intent and action.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts import audit
from accounts.arrows import move
from accounts.failpoints import fp
from approvals.models import PendingAction
from outbox import bell
from runs.engine import query, unknown
from runs.engine.each import each
from runs.engine.ending import lock_step
from runs.engine.record import settle_down
from runs.engine.record_alone import record_alone
from runs.engine.types import Committed, Outcome
from runs.engine.workspace import Locked, locked_one
from runs.errors import NotFound
from runs.models import Step
from tools import intents, result_query, workers
from tools.models import Intent
from tools.reconcile import Said
from tools.result_query import Heard
from tools.selectors import by_id

#: It was not asked, or not to the end: the same question is put again.
NOT_PUT = ("lost", "drained", "waiting", "cancelled")


def answered(*, worker_id: uuid.UUID, outcome: Outcome, mode: str, done: Committed) -> None:
    """Records the outcome of a question. Owns its transaction."""

    def act(run: Locked, asking: Step) -> None:
        poison = asking.losses + 1 >= settings.COUNTERSIGN.max_losses
        if outcome.ending in NOT_PUT and not (outcome.ending == "lost" and poison):
            _put_again(run, asking, outcome)
        else:
            _end(run, asking, outcome)
        fp("query.before_commit")

    record_alone(worker_id=worker_id, outcome=outcome, mode=mode, done=done, act=act)
    fp("query.committed")


def check_again(*, action_id: uuid.UUID, user_id: uuid.UUID, channel: str = "web") -> bool:
    """A person wants to know now. False: nothing can be asked. One question is on its way at a time. Owns its transaction.

    Raises :class:`NotFound` when there is no such question, and does nothing for one that is settled."""
    rows = PendingAction.everywhere.filter(pk=action_id, kind=PendingAction.Kind.SETTLE)
    asked = rows.values_list("run_id", "step_id", "intent_id").first()
    if asked is None:
        raise NotFound(_("There is no such question."))
    with transaction.atomic(durable=True):
        workspace, run = locked_one(asked[0])
        step = lock_step(asked[1])
        intent = Intent.everywhere.select_for_update(of=("self",)).filter(pk=asked[2]).first()
        if run is None or step is None or intent is None or intent.status != Intent.Status.UNKNOWN:
            return False
        if step.status != Step.Status.UNKNOWN or query.plan(run, step, intent, after=0.0) is None:
            return False
        payload = {"key": step.key, "action": action_id.hex}
        run.event("effect.check_again", step_id=step.pk, actor=f"user:{user_id.hex}", payload=payload)
        settle_down(workspace)
        audit.append(
            tenant_id=run.tenant_id,
            act="intent.check_again",
            subject=("intent", intent.pk.hex),
            run_id=run.id,
            actor=user_id,
            channel=channel,
            payload=payload,
        )
        bell.ring()
    return True


def ask_due(*, limit: int = 100) -> int:
    """Asks the far side once more about effects of which it said *no* while they could still be sent, as soon as nobody can
    send them any more; how many. A poll: whoever recorded that a sender is gone may have died since."""
    said_no = Step.everywhere.filter(
        status=Step.Status.UNKNOWN, intent__status=Intent.Status.UNKNOWN, intent__said=Said.NO
    )
    found = list(said_no.order_by("id").values_list("run_id", "id")[:limit])
    return each(found, lambda row: _ask_due(*row), failing="step %s could not be asked about again")


def _ask_due(run_id: uuid.UUID, step_id: uuid.UUID) -> bool:
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        step = lock_step(step_id)
        if run is None or step is None or step.status != Step.Status.UNKNOWN or query.live(run, step):
            return False
        intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=step.intent_id)
        if intent.status != Intent.Status.UNKNOWN or not query.tries_left(intent):
            return False
        if workers.may_go_on(intent=intent, resend=run.lives_for(step.kind)) is not None:
            return False
        if query.plan(run, step, intent, after=0.0) is None:
            return False
        settle_down(workspace)
        bell.ring()
    return True


def _put_again(run: Locked, asking: Step, outcome: Outcome) -> None:
    changes = {
        "owner": None,
        "lease_until": None,
        "not_before": Now() + timedelta(seconds=1),
        "losses": asking.losses + (outcome.ending == "lost"),
        "error_code": outcome.error_code[:60],
        "error_text": outcome.error_text[:1000],
    }
    move(asking, "give_back", epoch=asking.epoch, changes=changes)
    run.moving = True
    _line(run, asking, outcome.ending, outcome)


def _end(run: Locked, asking: Step, outcome: Outcome) -> None:
    good = outcome.ending == "succeeded"
    changes: dict[str, Any] = {
        "output": outcome.output if good else None,
        "error_code": outcome.error_code[:60],
        "error_text": outcome.error_text[:1000],
        "owner": None,
        "lease_until": None,
        "finished_at": Now(),
    }
    assert asking.started_at is not None
    asked_at = asking.started_at
    move(asking, "succeed" if good else "fail", epoch=asking.epoch, changes=changes)
    step = lock_step(query.about(asking))
    intent = (
        Intent.everywhere.select_for_update(of=("self",)).filter(pk=step.intent_id if step else None).first()
    )
    heard = Heard(Said.UNSURE)
    if intent is not None:
        rule = by_id(intent.contract_id).query_answer
        heard = (
            result_query.read(rule, outcome.output) if good else result_query.failed(rule, outcome.error_code)
        )
    _line(run, asking, "succeeded" if good else "failed", outcome, said=heard.said.value)
    if step is None or intent is None or not _still_open(step, intent, asking):
        # The agent may have wanted to end the task meanwhile, which was put off.
        run.plan_again()
        return
    evidence = _evidence(asking, outcome, heard, asked_at)
    fresh = intents.heard(intent_id=intent.pk, said=heard.said, asked_at=asked_at, evidence=evidence)
    unknown.follow(run, step, fresh, why="asked", text=str(evidence["text"]))


def _still_open(step: Step, intent: Intent, asking: Step) -> bool:
    """Whether the answer is about what is open now."""
    dispatch = intent.dispatch_id.hex if intent.dispatch_id else ""
    return (step.status, intent.status, dispatch) == (
        Step.Status.UNKNOWN,
        Intent.Status.UNKNOWN,
        asking.input["dispatch"],
    )


def _evidence(asking: Step, outcome: Outcome, heard: Heard, asked_at: datetime) -> dict[str, Any]:
    """What a person sees of it: when it was asked, with what, and what came back, bounded."""
    found = repr(heard.found)[: result_query.SHOWN] if heard.found is not None else None
    failed = outcome.ending != "succeeded"
    return {
        "kind": "query",
        "said": heard.said.value,
        "tool": asking.tool,
        "step": asking.pk.hex,
        "asked_at": asked_at.isoformat(),
        "found": heard.found if isinstance(heard.found, str | int | bool | None) else found,
        "reference": heard.reference,
        "text": (outcome.error_text or outcome.error_code or outcome.ending)[:500] if failed else "",
    }


def _line(run: Locked, asking: Step, what: str, outcome: Outcome, **more: str) -> None:
    payload: dict[str, Any] = {
        "key": asking.key,
        "attempt": asking.attempt,
        "ms": outcome.milliseconds,
        "tool": asking.tool,
        **more,
    }
    if outcome.error_code:
        payload |= {"code": outcome.error_code, "text": outcome.error_text[:500]}
    run.event(f"step.{what}", step_id=asking.pk, epoch=asking.epoch, fence=asking.fence, payload=payload)
