"""Unknown: what the engine does about an effect whose outcome is open. What follows is decided by the table of
``tools.reconcile`` alone; here its facts are gathered under the locks of run, step and intent, and its word is carried out.

Joins a transaction that holds run, step, and intent.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from accounts.arrows import move
from approvals import shown
from approvals.clock import db_now
from approvals.models import PendingAction
from approvals.open import open_settle
from approvals.withdraw import withdraw_settle
from runs import sentences
from runs.engine import query, retry, undone
from runs.engine.asks_first import asks_first
from runs.engine.ending import end_step, resume_step
from runs.engine.workspace import Locked
from runs.models import Step
from tools import intents, reconcile, workers
from tools.contradictions import MOST_ATTEMPTS
from tools.models import Intent
from tools.reconcile import Blocked, By, Facts, Next, Said
from tools.selectors import by_id

#: Why a second question to a person is put about the same outcome.
TOO_EARLY = "looked_too_early"


def facts(
    run: Locked,
    step: Step,
    intent: Intent,
    *,
    said: Said | None = None,
    said_at: datetime | None = None,
    by: By = By.FAR_SIDE,
) -> Facts:
    """What is known now. ``said``, ``said_at``, ``by``: a person's answer; else the newest one of the far side counts."""
    if said is None:
        said, said_at = Said(intent.said), intent.said_at
    stands = workers.may_go_on(intent=intent, resend=run.lives_for(step.kind))
    early = said_at is not None and workers.may_go_on(
        intent=intent, resend=run.lives_for(step.kind), now=said_at
    )
    return Facts(
        keys=workers.remembers(intent=intent),
        again=_again_left(run, step, intent),
        query=query.question(intent) is not None,
        asks=query.tries_left(intent),
        said=said,
        by=by,
        blocked=Blocked.NO if stands is None else Blocked.UNTIL if stands.until else Blocked.SENDER,
        too_early=bool(early),
    )


def lose(run: Locked, step: Step, intent: Intent, *, why: str, text: str = "") -> None:
    """Sent, perhaps: the intent is UNKNOWN. ``step`` is RUNNING: it goes back when the far side drops repeats of the key,
    else it is UNKNOWN too, and the far side or a person is asked."""
    if intent.status != Intent.Status.UNKNOWN:
        evidence = {"kind": "engine", "why": why, "text": text[:500]}
        intent = intents.lose(
            intent_id=intent.pk,
            dispatch_id=intent.dispatch_id,
            evidence=evidence,
            sender_done=why == "unknown",
        )
    counted = {
        "failures": step.failures + (why == "failed"),
        "losses": step.losses + (why == "lost"),
    }
    step.failures, step.losses = counted["failures"], counted["losses"]
    word = reconcile.decide(facts(run, step, intent))
    if word == Next.SEND_AGAIN:
        _back(run, step, intent, counted, why, text)
        return
    changes = {
        "owner": None,
        "lease_until": None,
        "waiting_on": _question(step, intent)[:200],
        "error_code": "unknown_outcome",
    }
    move(step, "lose", epoch=step.epoch, changes=changes)
    _carry_out(word, run, step, intent, why=why, text=text)


def stop(run: Locked, step: Step, *, code: str, actor: str = "engine") -> None:
    """A step of a run that ends does not start any more. Of one that was to be sent again it is still open what became of
    the first time; a question to the far side goes on."""
    if step.kind == Step.Kind.QUERY:
        subject = Step.everywhere.get(pk=query.about(step))
        if subject.status != Step.Status.UNKNOWN:
            query.drop(run, subject)
        return
    intent = Intent.everywhere.select_for_update(of=("self",)).filter(pk=step.intent_id).first()
    if intent is None or intent.status != Intent.Status.UNKNOWN:
        end_step(run, step, "cancel", code=code, actor=actor)
        return
    changes = {
        "held": False,
        "waiting_on": _question(step, intent)[:200],
        "error_code": "unknown_outcome",
    }
    move(step, "doubt", epoch=step.epoch, changes=changes)
    word = reconcile.decide(replace(facts(run, step, intent), again=False))
    _carry_out(word, run, step, intent, why=code)


def follow(run: Locked, step: Step, intent: Intent, *, why: str, text: str = "") -> None:
    """Goes on with an UNKNOWN step after something was learnt, or after a wait."""
    _carry_out(reconcile.decide(facts(run, step, intent)), run, step, intent, why=why, text=text)


def may_send_again(run: Locked, step: Step, intent: Intent) -> bool:
    """Asked by begin, of a step that is RUNNING once more."""
    return reconcile.decide(facts(run, step, intent)) == Next.SEND_AGAIN


def _carry_out(word: Next, run: Locked, step: Step, intent: Intent, *, why: str, text: str = "") -> None:
    match word:
        case Next.HAPPENED:
            _happened(run, step, intent)
        case Next.NOT_HAPPENED:
            close(run, step, intent)
            not_happened(run, step, intent, actor="engine", most=by_id(intent.contract_id).max_attempts)
        case Next.SEND_AGAIN:
            resume_step(run, step, actor="engine", why="send_again")
        case Next.ASK:
            _tell(run, step, why)
            query.plan(run, step, intent, after=query.delay(intent))
            wait_for(step, sentences.ASKING())
        case Next.WAIT:
            stands = workers.may_go_on(intent=intent, resend=run.lives_for(step.kind))
            query.plan(run, step, intent, after=_seconds_until(stands.until if stands else None))
            wait_for(step, str(stands or ""))
        case _:
            ask(run, step, intent, why=why, text=text)


def _back(run: Locked, step: Step, intent: Intent, counted: dict[str, int], why: str, text: str) -> None:
    """To be sent again under the same key. The intent stays UNKNOWN until then."""
    seconds = retry.pause(by_id(intent.contract_id).backoff_seconds, max(0, int(intent.dispatches) - 1))
    changes: dict[str, Any] = {
        **counted,
        "owner": None,
        "lease_until": None,
        "not_before": Now() + timedelta(seconds=seconds),
        "error_code": "unknown_outcome",
        "error_text": text[:1000],
    }
    move(step, "give_back", epoch=step.epoch, changes=changes)
    run.moving = True
    run.event(
        "step.sent_again",
        step_id=step.pk,
        epoch=step.epoch,
        fence=step.fence,
        payload={"key": step.key, "attempt": step.attempt, "why": why},
    )


def not_happened(
    run: Locked, step: Step, intent: Intent, *, actor: str, most: int = MOST_ATTEMPTS * MOST_ATTEMPTS
) -> None:
    """Known not to have happened, and nobody can still send it: the step goes on under the same key, its authority is
    checked again by begin. After ``most`` dispatches it ends instead."""
    evidence = {"kind": "engine", "why": "settled as not happened, and no old sender can send"}
    dispatch = intent.dispatch_id
    assert dispatch is not None
    settled = "not_happened"
    intents.refuse(intent_id=intent.pk, dispatch_id=dispatch, evidence=evidence, settled=settled)
    if not run.lives_for(step.kind):
        intents.void(intent_id=intent.pk)
        text = sentences.NOT_HAPPENED()
        end_step(run, step, "fail", code="not_happened", text=text, actor=actor)
        return
    if intent.dispatches >= most and step.kind == Step.Kind.UNDO:
        resume_step(run, step, actor=actor, why="not_happened")
        undone.stuck(run, step, code="not_happened", text=sentences.NOT_HAPPENED_OFTEN())
        return
    if intent.dispatches >= most:
        intents.void(intent_id=intent.pk)
        text = sentences.NOT_HAPPENED_OFTEN()
        end_step(run, step, "fail", code="not_happened", text=text, actor=actor)
        return
    resume_step(run, step, actor=actor, why="not_happened")
    if not asks_first(run, step, intent, by_id(intent.contract_id), _told(run, intent)):
        intents.allow_again(intent_id=intent.pk)


def _happened(run: Locked, step: Step, intent: Intent) -> None:
    """The far side says so; its words are in the evidence."""
    heard: dict[str, Any] = next(
        (item for item in reversed(intent.evidence) if item.get("kind") == "query"), {}
    )
    reference = str(heard.get("reference") or "")
    answer = {"settled": "query", "reference": reference, "found": heard.get("found")}
    close(run, step, intent)
    intents.confirm(intent_id=intent.pk, answer=answer, reference=reference, settled="query")
    told = {"effect": "confirmed", "reference": reference[:200], "settled": "query"}
    end_step(run, step, "succeed", output=answer, extra=told)


def close(run: Locked, step: Step, intent: Intent) -> None:
    """The outcome became known: nobody is asked any more."""
    withdraw_settle(intent_id=intent.pk, reason=sentences.BECAME_KNOWN())
    query.drop(run, step)


def ask(run: Locked, step: Step, intent: Intent, *, why: str, text: str = "") -> None:
    """Ask a person what became of an unknown outcome. Joins."""
    sentence = _question(step, intent)
    action = open_settle(
        tenant_id=run.tenant_id,
        run_id=run.id,
        step_id=step.pk,
        epoch=step.epoch,
        intent=intent,
        submitter_id=run.submitter_id,
        sentence=sentence,
        facts={"why": why, "text": text[:500], "attempt": step.attempt},
    )
    wait_for(step, sentence)
    _tell(run, step, why, action=action.pk.hex)


def wait_for(step: Step, what: str) -> None:
    """What the step waits for, in words."""
    Step.everywhere.filter(pk=step.pk, status=Step.Status.UNKNOWN).exclude(waiting_on=what[:200]).update(
        waiting_on=what[:200]
    )


def in_time(step: Step, again: retry.Again) -> bool:
    """Whether the next try would still begin in time, by the database's clock. Joins."""
    if step.deadline is None:
        started = F("started_at") + timedelta(seconds=again.total)
        Step.everywhere.filter(pk=step.pk).update(deadline=started)
    soon = Now() + timedelta(seconds=again.delay)
    return Step.everywhere.filter(pk=step.pk, deadline__gte=soon).exists()


def _again_left(run: Locked, step: Step, intent: Intent) -> bool:
    """Whether it may be sent once more: tries and time are left, it is no poison, and the task takes work."""
    contract = by_id(intent.contract_id)
    most = min(contract.max_attempts, MOST_ATTEMPTS)
    if not run.lives_for(step.kind) or not contract.native_idempotency or intent.dispatches >= most:
        return False
    if step.failures >= most or step.losses >= settings.COUNTERSIGN.max_losses:
        return False
    return in_time(step, retry.Again(0.0, float(contract.max_total_seconds)))


def _tell(run: Locked, step: Step, why: str, **more: str) -> None:
    payload = {"key": step.key, "why": why, **more}
    run.event("step.unknown", step_id=step.pk, epoch=step.epoch, fence=step.fence, payload=payload)


def _seconds_until(moment: datetime | None) -> float:
    """A little more than the time until then, so that the answer is not of the moment itself."""
    return max(0.0, (moment - db_now()).total_seconds()) + 0.05 if moment else 1.0


def _question(step: Step, intent: Intent) -> str:
    return sentences.DID_IT_HAPPEN(what=_deed(step, intent))


def _deed(step: Step, intent: Intent) -> str:
    """What was to happen: in the words that were approved, else what the step is about."""
    approved = PendingAction.everywhere.filter(intent=intent, kind=PendingAction.Kind.APPROVE)
    said = approved.order_by("-generation").values_list("sentence", flat=True).first()
    return (said or step.title or step.tool)[:450]


def _told(run: Locked, intent: Intent) -> dict[str, Any]:
    """What was told with the first question about this outcome."""
    asked = PendingAction.everywhere.filter(intent=intent, kind=PendingAction.Kind.SETTLE, run_id=run.id)
    action = asked.order_by("opened_at").first()
    found = shown.read(bytes(action.shown)).get("facts") if action else None
    return found if isinstance(found, dict) else {}
