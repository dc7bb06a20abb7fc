"""Park: a question to people or a wait for a signal becomes a step that holds no worker. Joins a transaction that holds the
run's lock, in which signals are looked at as well: one that came first is taken, so that none is missed (B24)."""

from collections.abc import Mapping
from typing import Any

from accounts.canonical import digest
from accounts.ids import new_id
from accounts.models import Role
from accounts.schemas import BadSchema, check_schema
from approvals.open import open_answer
from runs import sentences
from runs.engine.workspace import Locked, NewStep
from runs.models import Signal

#: Ten years: whoever waits longer means for ever.
LONGEST_SECONDS = 315_360_000


class CannotPark(Exception):
    """The directive cannot be carried out. ``code`` is that of the takeover that follows."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


def content(directive: Mapping[str, Any]) -> dict[str, Any]:
    """What a step of this key is about: the same key with other content is drift (L9)."""
    if directive["do"] == "ask":
        return {
            "question": str(directive["question"]),
            "schema": dict(directive.get("schema") or {}),
            "role": str(directive.get("role") or Role.SUBMITTER.value),
        }
    return {"signal": str(directive.get("signal") or "")}


def ask(run: Locked, directive: Mapping[str, Any]) -> None:
    """A step that waits for the answer of a person, and the open question on the desk."""
    about = content(directive)
    question = " ".join(about["question"].split())
    if not question or about["role"] not in Role.values:
        raise CannotPark("bad_question", sentences.BAD_QUESTION())
    try:
        check_schema(about["schema"])
    except BadSchema as error:
        raise CannotPark("bad_question", sentences.BAD_QUESTION_FORM()) from error
    step = NewStep(
        new_id(),
        str(directive["key"]),
        "person",
        title=question[:300],
        status="WAITING_APPROVAL",
        waiting_on=question[:200],
        input=about,
        input_digest=digest(about),
    )
    action = open_answer(
        tenant_id=run.tenant_id,
        run_id=run.id,
        step_id=step.id,
        epoch=1,
        submitter_id=run.submitter_id,
        agent=run.agent,
        sentence=question,
        schema=about["schema"],
        role=about["role"],
        seconds=_seconds(directive),
        facts={"goal": run.goal, "why": str(directive.get("why") or "")[:5000]},
    )
    run.steps.append(step)
    payload = {"key": step.key, "action": action.pk.hex, "sentence": question[:500], "digest": action.digest}
    run.event("question.asked", step_id=step.id, epoch=1, input_digest=step.input_digest, payload=payload)


def wait_for(run: Locked, directive: Mapping[str, Any]) -> None:
    """A step that waits for a signal, or for time to pass; one that has its signal already has succeeded."""
    about = content(directive)
    name = about["signal"]
    step = NewStep(
        new_id(),
        str(directive["key"]),
        "wait",
        title=str(directive.get("title") or "")[:300],
        status="WAITING_EXTERNAL",
        waiting_on=(sentences.SIGNAL(name=name) if name else sentences.TIME())[:200],
        wait=_seconds(directive),
        input=about,
        input_digest=digest(about),
    )
    run.steps.append(step)
    kept = _kept(run, name) if name else None
    if kept is None:
        run.event("wait.begun", step_id=step.id, epoch=1, payload={"key": step.key, **about})
        return
    Signal.everywhere.filter(pk=kept.pk).update(consumed_by_id=step.id)
    run.steps_ended += 1
    run.spend(steps=1)
    step.status, step.waiting_on, step.wait, step.ended_seq = "SUCCEEDED", "", None, run.steps_ended
    step.output = output_of(kept)
    run.event(
        "step.succeeded",
        step_id=step.id,
        epoch=1,
        payload={"key": step.key, "signal": name, "external_id": kept.external_id},
    )
    run.plan_again()


def output_of(signal: Signal) -> dict[str, Any]:
    """What the agent sees of a signal."""
    return {"signal": signal.name, "external_id": signal.external_id, "payload": signal.payload}


def _kept(run: Locked, name: str) -> Signal | None:
    """The oldest signal of this name that nobody took, nor this very transaction."""
    rows = Signal.everywhere.filter(run_id=run.id, name=name, consumed_by__isnull=True)
    found: Signal | None = rows.order_by("created_at", "id").first()
    return found


def _seconds(directive: Mapping[str, Any]) -> int:
    return min(LONGEST_SECONDS, max(1, int(directive.get("seconds") or 1)))
