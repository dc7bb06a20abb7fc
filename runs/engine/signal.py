"""Signal: a fact from outside for a run. It ends the wait that stands for its name, or is kept for one to come (B24).

Lock order: run, step, audit head.
"""

import uuid
from collections.abc import Mapping
from typing import Any, Literal

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts import audit
from accounts.canonical import BadInput, canonical, check_storable
from accounts.failpoints import fp
from outbox import bell
from runs.engine.ending import end_step
from runs.engine.park import output_of
from runs.engine.record import settle_down
from runs.engine.workspace import Locked, locked_one
from runs.errors import BadTask, NotFound
from runs.models import Signal, Step
from runs.states import RUN_PLANNABLE

#: What became of a signal: a wait took it · no wait stands yet · the same external id came before · too late, so that it
#: stands in the audit log alone.
Received = Literal["taken", "kept", "repeated", "late"]
LARGEST = 200_000


def signal(
    *,
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    name: str,
    external_id: str,
    payload: Mapping[str, Any],
    epoch: int | None = None,
    user_id: uuid.UUID | None = None,
    channel: str = "system",
) -> Received:
    """Takes one signal. The first of an ``external_id`` counts; a repeat changes nothing, whatever it carries.

    ``epoch`` is that of the run when the sender was asked, if it knows: a signal from before a redrive, takeover or restore
    goes to the audit log alone (L12), and so does one for a run that takes no new work any more. Raises :class:`NotFound`
    and :class:`BadTask`. Owns its transaction.
    """
    _check(name, external_id, payload)
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        if run is None or run.tenant_id != tenant_id:
            raise NotFound(_("There is no such task."))
        received = _receive(run, name, external_id, payload, epoch)
        if received == "taken":
            settle_down(workspace)
            bell.ring()
        audit.append(
            tenant_id=tenant_id,
            act=f"signal.{received}",
            subject=("run", run_id.hex),
            run_id=run_id,
            actor=user_id,
            actor_kind="person" if user_id else "engine",
            channel=channel,
            payload={"name": name, "external_id": external_id, "epoch": epoch or 0, "run_epoch": run.epoch},
        )
        fp("signal.before_commit")
    return received


def _check(name: str, external_id: str, payload: Mapping[str, Any]) -> None:
    if not 1 <= len(name) <= 80 or not 1 <= len(external_id) <= 120:
        text = _(
            "A signal needs a name of at most 80 and an external id of at most 120 characters. Nothing was done."
        )
        raise BadTask(text, "name")
    try:
        check_storable([name, external_id, dict(payload)])
        size = len(canonical(dict(payload)))
    except BadInput as error:
        raise BadTask(error.text, "payload") from error
    if size > LARGEST:
        raise BadTask(_("The payload is larger than %s bytes. Nothing was done.") % LARGEST, "payload")


def _receive(
    run: Locked, name: str, external_id: str, payload: Mapping[str, Any], epoch: int | None
) -> Received:
    if Signal.everywhere.filter(run_id=run.id, external_id=external_id).exists():
        return "repeated"
    if run.status not in RUN_PLANNABLE or (epoch is not None and epoch < run.epoch):
        return "late"
    made = Signal.everywhere.create(
        tenant_id=run.tenant_id, run_id=run.id, name=name, external_id=external_id, payload=dict(payload)
    )
    step = _waiting(run, name)
    if step is None:
        return "kept"
    Signal.everywhere.filter(pk=made.pk).update(consumed_by=step)
    said = {"signal": name, "external_id": external_id}
    end_step(run, step, "succeed", output=output_of(made), actor="signal", extra=said)
    return "taken"


def _waiting(run: Locked, name: str) -> Step | None:
    """The oldest wait for this name whose time is not over by the database's clock."""
    waits = Step.everywhere.select_for_update(of=("self",), no_key=True).filter(
        run_id=run.id,
        kind=Step.Kind.WAIT,
        status=Step.Status.WAITING_EXTERNAL,
        input__signal=name,
        deadline__gt=Now(),
    )
    found: Step | None = waits.order_by("seq").first()
    return found
