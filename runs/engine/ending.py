"""Ends (or gives back) one step outside the batch: by a person's decision, a late truth, an expiry, a cancel.

Joins a transaction that holds the run; every write is guarded by the state just read under the step's lock.
"""

import uuid
from typing import Any

from django.db.models import BigIntegerField, Func, Value
from django.db.models.functions import Now

from accounts.arrows import move
from runs.engine.workspace import Locked
from runs.models import Step


def lock_step(step_id: uuid.UUID) -> Step | None:
    """The step, locked; after its run, before actions and intents."""
    return Step.everywhere.select_for_update(of=("self",), no_key=True).filter(pk=step_id).first()


def next_fence() -> Func:
    """A token that outranks every one before it, for an update."""
    return Func(Value("fence"), function="nextval", output_field=BigIntegerField())


def end_step(
    run: Locked,
    step: Step,
    transition: str,
    *,
    output: Any = None,
    code: str = "",
    text: str = "",
    actor: str = "engine",
    fence: int = 0,
    artifacts: list[str] | None = None,
    extra: dict[str, Any] | None = None,
) -> None:
    """A final state, its place in the order of ended steps, a line of history, and the agent is asked again."""
    run.steps_ended += 1
    run.spend(steps=1 if step.attempt or step.kind in (Step.Kind.PERSON, Step.Kind.WAIT) else 0)
    changes: dict[str, Any] = {
        "output": output,
        "error_code": code[:60],
        "error_text": text[:1000],
        "owner": None,
        "lease_until": None,
        "held": False,
        "waiting_on": "",
        "finished_at": Now(),
        "ended_seq": run.steps_ended,
    }
    move(step, transition, epoch=step.epoch, changes=changes)
    payload: dict[str, Any] = {"key": step.key, "attempt": step.attempt, **(extra or {})}
    if step.tool:
        payload["tool"] = step.tool
    if code:
        payload["code"], payload["text"] = code, text[:500]
    run.event(
        f"step.{step.status.lower()}",
        step_id=step.pk,
        actor=actor,
        epoch=step.epoch,
        fence=fence or step.fence,
        artifacts=artifacts or [],
        payload=payload,
    )
    run.plan_again()


def resume_step(run: Locked, step: Step, *, actor: str, why: str) -> None:
    """The wait is over: a new epoch and a new fence, so that everything older than the wait is refused (L12)."""
    move(
        step,
        "resume",
        epoch=step.epoch,
        changes={
            "epoch": step.epoch + 1,
            "fence": next_fence(),
            "not_before": Now(),
            "waiting_on": "",
            "error_code": "",
            "error_text": "",
        },
    )
    run.moving = True
    run.event(
        "step.resumed", step_id=step.pk, actor=actor, epoch=step.epoch, payload={"key": step.key, "why": why}
    )
