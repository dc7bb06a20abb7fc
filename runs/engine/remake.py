"""Remake: the step that made a damaged artifact runs again, as a step of its own beside the first.

The first has ended and stays as it is; what it put out is what others were told. A remake is no step of the agent: it stands
in no order of ended steps, and the agent sees of it at most that something is still under way.
"""

from datetime import timedelta

from django.db.models.functions import Now

from accounts.arrows import move
from accounts.ids import new_id
from outbox.append import Fact
from runs import sentences
from runs.engine import artifacts, spending
from runs.engine.take_over import take_over
from runs.engine.types import DAMAGED, Outcome
from runs.engine.workspace import Locked
from runs.models import Artifact, Damage, Step
from runs.states import REMAKE
from tools.models import EffectClass
from tools.selectors import by_id

#: The same content may get lost this often before a person is asked.
MOST = 3


def maker(run: Locked, artifact: Artifact) -> Step | None:
    """The step that can make this content again; None when there is none, or when trying once more is no use."""
    rows = Artifact.everywhere.filter(
        run_id=run.id, sha256=artifact.sha256, quarantined=False, step__isnull=False
    )
    tried = list(
        Damage.everywhere.filter(
            run_id=run.id, sha256=artifact.sha256, done=Damage.Done.REMAKING
        ).values_list("outcome", flat=True)
    )
    if len(tried) >= MOST or Damage.Outcome.OTHER in tried or Damage.Outcome.FAILED in tried:
        return None
    for row in rows.select_related("step").order_by("created_at", "pk"):
        step: Step = row.step
        if _may_run_again(step):
            return step
    return None


def _may_run_again(step: Step) -> bool:
    return (
        step.kind in (Step.Kind.CALL, Step.Kind.MODEL, Step.Kind.REMAKE)
        and step.status == Step.Status.SUCCEEDED
        and step.contract_id is not None
        and by_id(step.contract_id).effect_class == EffectClass.READ_ONLY
    )


def plan(run: Locked, first: Step) -> Step:
    """A step that does again what ``first`` did; one that is under way already is joined. Joins a transaction that holds
    the run."""
    name = first.key.removeprefix(REMAKE).rpartition("/")[0] if first.kind == Step.Kind.REMAKE else first.key
    others = Step.everywhere.filter(
        run_id=run.id, kind=Step.Kind.REMAKE, key__startswith=f"{REMAKE}{name[:180]}/"
    )
    live: Step | None = others.filter(status__in=[Step.Status.PENDING, Step.Status.RUNNING]).first()
    if live is not None:
        return live
    made: Step = Step.everywhere.create(
        id=new_id(),
        run_id=run.id,
        tenant_id=run.tenant_id,
        key=f"{REMAKE}{name[:180]}/{others.count() + 1}",
        seq=run.head.sequence + len(run.lines) + 1,
        kind=Step.Kind.REMAKE,
        title=first.title,
        tool=first.tool,
        contract_id=first.contract_id,
        pool=first.pool,
        epoch=first.epoch + 1,
        timeout_seconds=first.timeout_seconds,
        input=first.input,
        input_digest=first.input_digest,
    )
    run.moving = True
    wake = {"run_id": run.id.hex, "step_id": made.pk.hex, "attempt": 1}
    run.facts.append(Fact(topic="step.ready", tenant_id=run.tenant_id, payload=wake))
    return made


def again(run: Locked, step: Step, outcome: Outcome, delay: float) -> None:
    """It failed or was lost, and is tried again after ``delay`` seconds. Joins."""
    changes = {
        "owner": None,
        "lease_until": None,
        "not_before": Now() + timedelta(seconds=delay),
        "failures": step.failures + (outcome.ending in ("failed", "timeout")),
        "losses": step.losses + (outcome.ending == "lost"),
        "error_code": outcome.error_code[:60],
        "error_text": outcome.error_text[:1000],
    }
    move(step, "give_back", epoch=step.epoch, changes=changes)
    spending.book_call(run, outcome)
    run.moving = True
    _tell(run, step, outcome, "retried" if outcome.ending in ("failed", "timeout") else outcome.ending)


def end(run: Locked, step: Step, outcome: Outcome, status: str) -> None:
    """It is over. Equal content is all that was wanted; anything else is a person's matter. Joins."""
    arrow = {"SUCCEEDED": "succeed", "FAILED": "fail", "CANCELLED": "cancel"}[status]
    changes = {
        "output": outcome.output if status == "SUCCEEDED" else None,
        "error_code": outcome.error_code[:60],
        "error_text": outcome.error_text[:1000],
        "owner": None,
        "lease_until": None,
        "finished_at": Now(),
    }
    move(step, arrow, epoch=step.epoch, changes=changes)
    spending.book_call(run, outcome)
    made = artifacts.store(run, outcome) if outcome.artifacts and status == "SUCCEEDED" else []
    _tell(run, step, outcome, status.lower(), made)
    for damage in Damage.everywhere.filter(remake=step, closed_at__isnull=True).select_related("artifact"):
        _close(run, step, damage, made, status)
    run.plan_again()


def _close(run: Locked, step: Step, damage: Damage, made: list[str], status: str) -> None:
    if damage.sha256 in made:
        result = Damage.Outcome.SAME
    else:
        result = Damage.Outcome.OTHER if status == "SUCCEEDED" else Damage.Outcome.FAILED
    Damage.everywhere.filter(pk=damage.pk, closed_at__isnull=True).update(closed_at=Now(), outcome=result)
    name = damage.artifact.name
    run.event(
        "artifact.remade" if result == Damage.Outcome.SAME else "artifact.not_remade",
        step_id=step.pk,
        artifacts=[damage.sha256],
        payload={"name": name, "outcome": str(result)},
    )
    if result != Damage.Outcome.SAME and status != "CANCELLED":
        take_over(
            run,
            DAMAGED,
            sentences.NOT_REMADE(name=name[:120]),
            detail=f"{name} · sha256:{damage.sha256} · {result}",
            step_id=step.pk,
        )


def _tell(run: Locked, step: Step, outcome: Outcome, what: str, made: list[str] | None = None) -> None:
    payload = {"key": step.key, "attempt": step.attempt, "ms": outcome.milliseconds, "tool": step.tool}
    if outcome.error_code:
        payload |= {"code": outcome.error_code, "text": outcome.error_text[:500]}
    run.event(
        f"step.{what}",
        step_id=step.pk,
        epoch=step.epoch,
        fence=step.fence,
        artifacts=made or [],
        payload=payload,
    )
