"""Take over: a run cannot go on by itself, so a person decides whether it continues or ends (S11). What is under way ends,
nothing new starts: the run names the question that holds it, and claim, begin and commit look there.

Joins a transaction that holds the run.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from accounts.canonical import canonical
from approvals.models import PendingAction
from approvals.open import open_takeover
from runs import budget, sentences
from runs.agents import registry
from runs.budget import Shortage
from runs.engine.workspace import Locked, NewStep
from runs.models import Step

#: How many finished steps the question names, and the largest arguments that it shows, in bytes.
DONE_SHOWN, ARGUMENTS_SHOWN = 5, 20_000


def take_over(
    run: Locked,
    code: str,
    sentence: str,
    *,
    detail: str = "",
    step_id: uuid.UUID | None = None,
    shortage: Shortage | None = None,
    suggestion: str = "",
    entry: str = "",
    entries: Mapping[str, str] | None = None,
) -> None:
    """Opens the question, unless one holds the run already. ``code`` names the cause; ``step_id`` the step at which it
    came to a halt, else the last one that failed is named. ``entry``: where it goes on if a person says so;
    ``entries``: the places to choose from, each with what it will do."""
    if run.taken_over or run.takeover is not None:
        return
    run.taken_over = True
    run.waiting_on = sentence
    standing = PendingAction.everywhere.filter(
        run_id=run.id, kind=PendingAction.Kind.TAKE_OVER, status=PendingAction.Status.OPEN
    ).first()
    if standing is not None:
        run.takeover = standing.pk
        return
    action = open_takeover(
        tenant_id=run.tenant_id,
        run_id=run.id,
        step_id=step_id,
        epoch=run.epoch,
        submitter_id=run.submitter_id,
        sentence=sentence,
        facts={
            **_facts(run, code, detail, step_id, shortage, suggestion),
            **({"entry": entry} if entry else {}),
            **({"entries": dict(entries)} if entries else {}),
        },
    )
    run.takeover = action.pk
    told = {"code": code, "why": sentence[:500], "action": action.pk.hex}
    run.event("run.taken_over", step_id=step_id, payload=told)


def _facts(
    run: Locked,
    code: str,
    detail: str,
    step_id: uuid.UUID | None,
    shortage: Shortage | None,
    suggestion: str,
) -> dict[str, Any]:
    steps = Step.everywhere.filter(run_id=run.id).exclude(kind=Step.Kind.PLAN)
    done = list(steps.filter(ended_seq__isnull=False).order_by("-ended_seq")[:DONE_SHOWN])
    live: list[Step | NewStep] = [*steps.filter(finished_at__isnull=True).order_by("seq")[:DONE_SHOWN]]
    # What was planned in this transaction is not in the table yet.
    live += [step for step in run.steps if step.kind != "plan" and step.ended_seq is None]
    chosen = steps.filter(pk=step_id) if step_id else steps.filter(status=Step.Status.FAILED)
    at = chosen.order_by("-ended_seq").first()
    undone = steps.filter(key=at.key.removeprefix("undo/")).first() if at and at.kind == "undo" else None
    return {
        "code": code,
        "detail": detail[:2000],
        "goal": run.goal,
        "steps_ended": run.steps_ended,
        "done": [_said(step) for step in reversed(done)],
        "waiting": [_said(step) for step in live[:DONE_SHOWN]],
        "failed": {**_failed(at), **_reference(undone)} if at else {},
        # Whoever undoes it by hand needs what was done.
        "parameters": _arguments(undone or at) if at else {},
        "limit": _limit(run, shortage) if shortage else {},
        "suggestion": suggestion or _suggestion(code),
        "entry": sentences.ENTRY(),
    }


def _said(step: Step | NewStep) -> dict[str, str]:
    return {"key": step.key, "title": step.title or step.tool, "status": step.status}


def _failed(step: Step) -> dict[str, Any]:
    return {
        **_said(step),
        "tool": step.tool,
        "code": step.error_code,
        "text": step.error_text,
        "attempts": step.attempt,
    }


def _reference(step: Step | None) -> dict[str, str]:
    """What the other side calls the effect of that step."""
    return {"reference": step.intent.reference} if step and step.intent else {}


def _arguments(step: Step) -> Mapping[str, Any]:
    given: Mapping[str, Any] = step.input.get("arguments") or {}
    return given if len(canonical(given)) <= ARGUMENTS_SHOWN else {"digest": step.input_digest}


def _limit(run: Locked, found: Shortage) -> dict[str, str]:
    """``ceiling``: what the agent declares; a limit may be lower, and beyond it somebody else than the submitter decides."""
    declared = registry.declared_budget(run.agent, run.agent_version).get(found.name)
    return {
        **({"ceiling": str(declared)} if declared is not None else {}),
        "name": found.name,
        "used": budget.text(found.used),
        "reserved": budget.text(found.reserved),
        "limit": budget.text(found.limit),
    }


def _suggestion(code: str) -> str:
    if code.startswith("budget_"):
        return sentences.ADD_MORE()
    return sentences.SUGGESTIONS.get(code, sentences.CONTINUE)()
