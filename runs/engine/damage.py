"""What is done about a damaged artifact. Joins transactions that hold the run; :mod:`runs.engine.corrupt` is the verb.

Lock order: run, step, action, intent, damage, audit head.
"""

import logging
from typing import Literal

from django.db.models import F
from django.db.models.functions import Now

from accounts import audit
from accounts.arrows import move
from outbox.append import append
from runs import sentences
from runs.engine import remake
from runs.engine.ending import end_step, resume_step
from runs.engine.take_over import take_over
from runs.engine.types import DAMAGED, Outcome
from runs.engine.workspace import Locked
from runs.models import Artifact, Damage, Step, StepDependency

log = logging.getLogger(__name__)

SeenBy = Literal["worker", "download", "scrub"]


def wait(run: Locked, step: Step, outcome: Outcome) -> None:
    """The running ``step`` waits for the artifact that its outcome names. Joins a transaction that holds run and step."""
    said = outcome.output if isinstance(outcome.output, dict) else {}
    sha256, how = str(said.get("artifact", "")), str(said.get("found", "corrupt"))
    artifact = _of_run(run, sha256)
    seen = treat(run, artifact, how, "worker", reader=step) if artifact else None
    name = artifact.name if artifact else sha256[:12]
    if not run.plannable:
        end_step(run, step, "fail", code=DAMAGED, text=outcome.error_text, fence=step.fence)
        return
    changes = {
        "owner": None,
        "lease_until": None,
        "epoch": step.epoch + 1,
        "error_code": DAMAGED,
        "error_text": outcome.error_text[:1000],
    }
    if seen is not None and seen.remake_id is not None:
        StepDependency.objects.get_or_create(
            step=step, needs_id=seen.remake_id, defaults={"rule": StepDependency.Rule.ENDED}
        )
        move(step, "give_back", epoch=step.epoch, changes={**changes, "held": True})
    else:
        # Not a file of this task, or nobody can make it again: a person may put it back, or end the task.
        sentence = _needed(name)
        if artifact is None:
            take_over(run, DAMAGED, sentence, detail=outcome.error_text, step_id=step.pk)
        move(step, "wait_for_person", epoch=step.epoch, changes={**changes, "waiting_on": sentence[:200]})
    run.event(
        "step.waiting",
        step_id=step.pk,
        epoch=step.epoch,
        fence=step.fence,
        payload={"key": step.key, "attempt": step.attempt, "code": DAMAGED, "text": name[:200]},
    )


def go_on(run: Locked, *, actor: str) -> None:
    """A person answered: the steps that waited for the file read it again, and say so if it is still not there. Joins."""
    Damage.everywhere.filter(run_id=run.id, done=Damage.Done.ASKED, closed_at__isnull=True).update(
        closed_at=Now(), outcome=Damage.Outcome.ANSWERED
    )
    waiting = Step.everywhere.select_for_update(of=("self",), no_key=True).filter(
        run_id=run.id, status=Step.Status.WAITING_APPROVAL, error_code=DAMAGED
    )
    for step in waiting.order_by("pk"):
        resume_step(run, step, actor=actor, why="continued")


def treat(
    run: Locked, artifact: Artifact, how: str, seen_by: SeenBy, *, reader: Step | None = None
) -> Damage:
    """What is done in a live run. Joins a transaction that holds the run."""
    standing: Damage | None = Damage.everywhere.filter(
        run_id=run.id, sha256=artifact.sha256, closed_at__isnull=True
    ).first()
    if standing is not None:
        return standing
    maker = remake.maker(run, artifact) if run.plannable else None
    again = remake.plan(run, maker) if maker else None
    choice = Damage.Done.NOTED
    if again is not None:
        choice = Damage.Done.REMAKING
    elif run.plannable:
        choice = Damage.Done.ASKED
    run.event(
        "artifact.damaged",
        step_id=artifact.step_id,
        artifacts=[artifact.sha256],
        payload={"name": artifact.name, "found": how, "seen_by": seen_by, "done": str(choice)},
    )
    if choice == Damage.Done.ASKED:
        take_over(
            run,
            DAMAGED,
            _needed(artifact.name),
            detail=f"{artifact.name} · sha256:{artifact.sha256} · {how}",
            step_id=reader.pk if reader else artifact.step_id,
        )
    return _record(artifact, how, seen_by, choice, again)


def note(artifact: Artifact, how: str, seen_by: SeenBy) -> Damage:
    standing: Damage | None = Damage.everywhere.filter(artifact=artifact, closed_at__isnull=True).first()
    return standing or _record(artifact, how, seen_by, Damage.Done.NOTED, None)


def _record(artifact: Artifact, how: str, seen_by: SeenBy, choice: Damage.Done, again: Step | None) -> Damage:
    """The row, the message, the alert, and last the audit entry."""
    damage: Damage = Damage.everywhere.create(
        tenant_id=artifact.tenant_id,
        run_id=artifact.run_id,
        artifact=artifact,
        sha256=artifact.sha256,
        found=how,
        seen_by=seen_by,
        done=choice,
        remake=again,
    )
    run_id = artifact.run_id
    payload = {
        "artifact": artifact.pk.hex,
        "sha256": artifact.sha256,
        "name": artifact.name,
        "found": how,
        "seen_by": seen_by,
        "done": str(choice),
    }
    append(
        topic="artifact.damaged",
        key=run_id.hex if run_id else "",
        tenant_id=artifact.tenant_id,
        payload={**payload, "run_id": run_id.hex if run_id else ""},
    )
    log.error("artifact %s is %s (seen by %s): %s", artifact.pk, how, seen_by, choice)
    audit.append(
        tenant_id=artifact.tenant_id,
        act="artifact.damaged",
        subject=("artifact", artifact.pk.hex),
        run_id=run_id,
        actor_kind="engine",
        payload=payload,
    )
    return damage


def _of_run(run: Locked, sha256: str) -> Artifact | None:
    """The row of the run with that content; one that a step made before one that a person gave."""
    rows = Artifact.everywhere.filter(run_id=run.id, sha256=sha256, quarantined=False)
    return rows.order_by(F("step_id").asc(nulls_last=True), "created_at", "pk").first()


def _needed(name: str) -> str:
    return sentences.DAMAGED(name=name[:120])
