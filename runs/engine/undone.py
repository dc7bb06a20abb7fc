"""An undo that cannot be done by itself: its step waits, and a person is asked whether it is tried again or left. Never
swallowed: until then the run stays COMPENSATING and nothing older is undone. Joins a transaction that holds run and step."""

from accounts.arrows import move
from runs import sentences
from runs.engine.take_over import take_over
from runs.engine.workspace import Locked
from runs.models import Step
from tools.models import Intent
from tools.selectors import by_id

CODE = "undo_failed"


def repeatable(intent: Intent) -> bool:
    """Whether the contract of the effect says that undoing it may be repeated."""
    if intent.compensates_id is None:
        return False
    effect = Intent.everywhere.only("contract_id").get(pk=intent.compensates_id)
    return bool(by_id(effect.contract_id).compensation_idempotent)


def stuck(run: Locked, step: Step, *, code: str, text: str) -> None:
    """The running undo ``step`` failed for good, or could not be made at all."""
    changes = {
        "owner": None,
        "lease_until": None,
        "waiting_on": sentence(step.title),
        "error_code": code[:60],
        "error_text": text[:1000],
    }
    move(step, "wait_for_person", epoch=step.epoch, changes=changes)
    ask(run, step, code=code, text=text)


def ask(run: Locked, step: Step, *, code: str, text: str) -> None:
    """Opens the question about a step that waits already."""
    take_over(
        run,
        CODE,
        sentence(step.title),
        detail=f"{code}: {text}",
        step_id=step.pk,
        suggestion=sentences.UNDO_ADVICE(),
        entry=sentences.UNDO_ENTRY(),
    )
    payload = {"key": step.key, "code": code, "text": text[:500]}
    run.event("undo.failed", step_id=step.pk, epoch=step.epoch, fence=step.fence, payload=payload)


def sentence(title: str) -> str:
    """What a person is told."""
    return sentences.UNDO_FAILED(what=title[:150])
