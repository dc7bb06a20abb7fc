"""The verbs of intents. Every one JOINS the caller's transaction and is one guarded statement whose row
count is read: a row in another state, under another dispatch or a newer fence raises
:class:`tools.errors.Refused`.

Who may say what: CONFIRMED is the truth of the world and is taken from any sender and any dispatch;
REJECTED and UNKNOWN only from the current dispatch. The first successful answer stays and is given to every
repeat (L10).
"""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, F, Func, When
from django.db.models.functions import Coalesce, Now

from accounts import arrows
from accounts.canonical import storable
from accounts.ids import new_id
from tools import fences, resources
from tools.contracts import definition_digest
from tools.errors import Refused
from tools.evidence import appended
from tools.keys import request_digest
from tools.models import Contract, Intent, Tool

Evidence = Mapping[str, Any] | None
#: What was heard about a dispatch says nothing of the next one.
NOT_ASKED: Mapping[str, Any] = {"asks": 0, "said": "", "said_at": None}
#: What takes an effect off its resource: it is not under way any more, and known or given up.
ENDS = ("confirm", "refuse", "abandon")


def propose(
    *,
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    step_id: uuid.UUID,
    key: str,
    tool: str | Tool,
    contract: Contract,
    arguments: Mapping[str, Any],
    target: str,
    authorised: bool,
    epoch: int,
    verdict: Mapping[str, Any] | None = None,
    compensates: uuid.UUID | None = None,
) -> Intent:
    """The record before the effect. ``authorised``: the gate let it through without a person; ``verdict``: its word;
    ``compensates``: the effect that this one undoes.

    For a key that exists the first intent wins and is returned as it stands; when the new request differs,
    that is recorded in its ``drift`` (L9). Never a second row, whoever comes at the same time.
    """
    made = fresh(
        tenant_id=tenant_id,
        run_id=run_id,
        step_id=step_id,
        key=key,
        tool=tool,
        contract=contract,
        arguments=arguments,
        target=target,
        authorised=authorised,
        epoch=epoch,
        verdict=verdict,
        compensates=compensates,
    )
    Intent.everywhere.bulk_create([made], ignore_conflicts=True)
    first: Intent = Intent.everywhere.get(key=key)
    if first.pk != made.pk and first.request_digest != made.request_digest:
        difference = {"run": run_id.hex, "step": step_id.hex, "arguments": dict(arguments), "target": target}
        drifted = {**difference, "request_digest": made.request_digest, "contract": contract.pk.hex}
        Intent.everywhere.filter(pk=first.pk).update(drift=appended("drift", drifted))
        first.refresh_from_db(fields=["drift"])
    return first


def fresh(
    *,
    tenant_id: uuid.UUID,
    run_id: uuid.UUID,
    step_id: uuid.UUID,
    key: str,
    tool: str | Tool,
    contract: Contract,
    arguments: Mapping[str, Any],
    target: str,
    authorised: bool,
    epoch: int,
    verdict: Mapping[str, Any] | None = None,
    compensates: uuid.UUID | None = None,
) -> Intent:
    """The record that :func:`propose` would write if it is the first of its key; not stored yet."""
    if str(tool) != contract.tool.name or tenant_id != contract.tenant_id:
        raise ValueError(f"The contract is not one of {str(tool)!r} in this tenant.")
    asked = request_digest(
        tenant_id=tenant_id,
        key=key,
        tool=contract.tool.name,
        contract_digest=contract.definition_digest or definition_digest(contract),
        arguments=arguments,
        target=target,
    )
    return Intent(
        id=new_id(),
        tenant_id=tenant_id,
        key=key,
        run_id=run_id,
        step_id=step_id,
        tool_id=contract.tool_id,
        contract=contract,
        arguments=dict(arguments),
        target=target,
        resource=_resource(contract, arguments),
        request_digest=asked,
        verdict=dict(verdict or {}),
        status=Intent.Status.AUTHORISED if authorised else Intent.Status.PROPOSED,
        epoch=epoch,
        compensates_id=compensates,
    )


def _resource(contract: Contract, arguments: Mapping[str, Any]) -> str:
    """What it is put in order on. Arguments that name no resource never get past the gate."""
    try:
        return resources.name_of(contract.resource, arguments) if resources.ordered(contract) else ""
    except resources.Nameless:
        return ""


def authorise(*, intent: Intent, grant: uuid.UUID | None) -> Intent:
    """A person allowed it under ``grant``, or the gate did (None)."""
    return _move(intent.pk, "authorise", grant=grant)


def revoke(*, intent_id: uuid.UUID, evidence: Evidence = None) -> Intent:
    """The grant was voided before it was used: back to PROPOSED."""
    return _move(intent_id, "revoke", grant=None, evidence=appended("evidence", evidence))


def amend(
    *, intent: Intent, contract: Contract, arguments: Mapping[str, Any], target: str, evidence: Evidence
) -> Intent:
    """A person changed what would be sent: other arguments under the same key. Only of what waits for consent and was never
    sent; what was sent once is what it is (L9)."""
    made = request_digest(
        tenant_id=intent.tenant_id,
        key=intent.key,
        tool=contract.tool.name,
        contract_digest=contract.definition_digest or definition_digest(contract),
        arguments=arguments,
        target=target,
    )
    never_sent = {"status": Intent.Status.PROPOSED, "dispatches": 0}
    rows = Intent.everywhere.filter(pk=intent.pk, **never_sent).update(
        arguments=dict(arguments),
        target=target,
        resource=_resource(contract, arguments),
        request_digest=made,
        evidence=appended("evidence", evidence),
    )
    if rows != 1:
        raise _refusal("amend", intent.pk)
    return _read(intent.pk)


def judged(*, intent_id: uuid.UUID, verdict: Mapping[str, Any]) -> None:
    """The gate judged again: its newest word is kept."""
    Intent.everywhere.filter(pk=intent_id).update(verdict=dict(verdict))


def snapshot(*, intent: Intent, compensation: Mapping[str, Any]) -> None:
    """Keeps what an undo would need, before the call is made. The first snapshot stays."""
    guard = {"status": Intent.Status.AUTHORISED, "compensation_snapshot__isnull": True}
    Intent.everywhere.filter(pk=intent.pk, **guard).update(
        compensation_snapshot=storable(dict(compensation))[0]
    )


def dispatch(
    *, intent: Intent, sender_id: uuid.UUID, dispatch_id: uuid.UUID, fence: int, deadline_seconds: float
) -> Intent:
    """Permission to send, once, for this sender under this fence. A fence that is not newer than the one of
    the last dispatch is refused: an executor from before never sends after a later one."""
    sent = _sent(sender_id, dispatch_id, fence, deadline_seconds)
    return _move(intent.pk, "dispatch", guard={"fence__lt": fence}, **sent)


def send_again(
    *, intent: Intent, sender_id: uuid.UUID, dispatch_id: uuid.UUID, fence: int, deadline_seconds: float
) -> Intent:
    """As :func:`dispatch`, of an effect whose outcome is open: only for a far side that drops repeats of the key. When the
    first of the open dispatches was made is kept until the outcome is known, and so is who sent them, unless it has reported
    that it has stopped."""
    column = Intent._meta.get_field("open_senders")
    with_last = Func(F("open_senders"), F("sender_id"), function="array_append", output_field=column)
    earlier = {
        "open_since": Coalesce("open_since", "dispatched_at"),
        "open_senders": Case(When(sender_done_at__isnull=True, then=with_last), default=F("open_senders")),
    }
    sent = _sent(sender_id, dispatch_id, fence, deadline_seconds)
    return _move(intent.pk, "send_again", guard={"fence__lt": fence}, **sent, **earlier)


def _sent(sender_id: uuid.UUID, dispatch_id: uuid.UUID, fence: int, seconds: float) -> dict[str, Any]:
    return {
        "sender_id": sender_id,
        "dispatch_id": dispatch_id,
        "fence": fence,
        "dispatches": F("dispatches") + 1,
        "dispatched_at": Now(),
        "deadline": Now() + timedelta(seconds=seconds),
        "sender_done_at": None,
        "settled": "",
        **NOT_ASKED,
    }


def confirm(
    *, intent_id: uuid.UUID, answer: Any, reference: str, evidence: Evidence = None, settled: str = ""
) -> Intent:
    """It happened, whoever says so. A second confirmation leaves the first answer as it is and is kept as
    evidence: it may be a duplicate in the world. What cannot be stored of the answer is escaped and marked
    (B78, B79).

    Raises :class:`Refused` when nothing was ever sent, or when the record is closed; then the report is
    evidence too.
    """
    kept, escaped = storable(answer)
    name, escaped_name = storable(str(reference))
    marked = {"what": "answer_escaped"} if escaped or escaped_name else None
    try:
        return _move(
            intent_id,
            "confirm",
            guard={"dispatch_id__isnull": False},
            answer=kept,
            reference=name[:500],
            ended_at=Now(),
            settled=settled,
            evidence=appended("evidence", marked, evidence),
        )
    except Refused as refused:
        late = {
            "what": "confirmed_again",
            "answer": kept,
            "reference": name[:500],
            "said": dict(evidence or {}),
        }
        add_evidence(intent_id=intent_id, evidence=late)
        if refused.found in (Intent.Status.CONFIRMED, Intent.Status.COMPENSATED):
            return _read(intent_id)
        raise


def refuse(*, intent_id: uuid.UUID, dispatch_id: uuid.UUID, evidence: Evidence, settled: str = "") -> Intent:
    """Known not to have happened, said of the current dispatch."""
    return _move(
        intent_id,
        "refuse",
        guard={"dispatch_id": dispatch_id},
        unknown_since=None,
        open_since=None,
        open_senders=[],
        settled=settled,
        evidence=appended("evidence", evidence),
    )


def lose(
    *, intent_id: uuid.UUID, dispatch_id: uuid.UUID | None, evidence: Evidence, sender_done: bool = False
) -> Intent:
    """Nobody can tell. ``dispatch_id`` None: said by who found the lease expired, not by the sender.

    ``sender_done``: the sender itself reports that it has stopped sending under this dispatch, which is as
    good as being gone (a sender never repeats by itself). Said of an intent that is UNKNOWN already, it
    only adds that.
    """
    guard = {"dispatch_id": dispatch_id} if dispatch_id else {}
    done = {"sender_done_at": Coalesce("sender_done_at", Now())} if sender_done and dispatch_id else {}
    try:
        return _move(
            intent_id,
            "lose",
            guard=guard,
            unknown_since=Now(),
            evidence=appended("evidence", evidence),
            **done,
        )
    except Refused as refused:
        if not done or refused.found != Intent.Status.UNKNOWN:
            raise
        rows = Intent.everywhere.filter(pk=intent_id, status=Intent.Status.UNKNOWN, **guard)
        if rows.update(evidence=appended("evidence", evidence), **done) != 1:
            raise
        return _read(intent_id)


def doubt(*, intent_id: uuid.UUID, sender_id: uuid.UUID, evidence: Evidence) -> Intent:
    """The database was restored: this may have been sent after the backup, by whom and when is lost. ``sender_id`` stands
    for all processes from before. A grant from before does not cover another send: the epoch rises."""
    return _move(
        intent_id,
        "doubt",
        sender_id=sender_id,
        dispatch_id=new_id(),
        # As early as it can have been: what a far side remembers counts from here.
        dispatched_at=F("created_at"),
        deadline=None,
        sender_done_at=None,
        open_since=None,
        open_senders=[],
        settled="",
        **NOT_ASKED,
        epoch=F("epoch") + 1,
        unknown_since=Now(),
        evidence=appended("evidence", evidence),
    )


def note_settled(*, intent_id: uuid.UUID, settled: str, evidence: Evidence) -> Intent:
    """A person's answer to an UNKNOWN that cannot take effect yet (*It did not happen*, while an old sender
    may still send). The state stays UNKNOWN."""
    rows = Intent.everywhere.filter(pk=intent_id, status=Intent.Status.UNKNOWN)
    if rows.update(settled=settled, evidence=appended("evidence", evidence)) != 1:
        raise _refusal("settle", intent_id)
    return _read(intent_id)


def heard(*, intent_id: uuid.UUID, said: str, asked_at: datetime, evidence: Evidence) -> Intent:
    """The far side was asked whether it happened, at ``asked_at``. The state stays UNKNOWN: what follows is decided by
    ``tools.reconcile``."""
    rows = Intent.everywhere.filter(pk=intent_id, status=Intent.Status.UNKNOWN)
    changes = {"said": said, "said_at": asked_at, "asks": F("asks") + 1}
    if rows.update(evidence=appended("evidence", evidence), **changes) != 1:
        raise _refusal("heard", intent_id)
    return _read(intent_id)


def abandon(*, intent_id: uuid.UUID, evidence: Evidence, settled: str = "nobody_can_know") -> Intent:
    """A person recorded that nobody can know. Final."""
    return _move(
        intent_id, "abandon", settled=settled, ended_at=Now(), evidence=appended("evidence", evidence)
    )


def allow_again(*, intent_id: uuid.UUID, evidence: Evidence = None) -> Intent:
    """REJECTED → AUTHORISED: same key and digest, authority checked again by the caller."""
    return _move(intent_id, "allow_again", evidence=appended("evidence", evidence))


def ask_again(*, intent_id: uuid.UUID, evidence: Evidence = None) -> Intent:
    """REJECTED → PROPOSED: the authority drifted meanwhile, a person is asked anew."""
    return _move(intent_id, "ask_again", grant=None, evidence=appended("evidence", evidence))


def undo(*, intent_id: uuid.UUID, evidence: Evidence = None) -> Intent:
    """CONFIRMED → COMPENSATED: its undo was confirmed. When it had happened itself stays as it is."""
    return _move(intent_id, "undo", evidence=appended("evidence", evidence))


def void(*, intent_id: uuid.UUID, evidence: Evidence = None) -> Intent:
    """Never sent, and never will be. Final."""
    return _move(intent_id, "void", ended_at=Now(), evidence=appended("evidence", evidence))


def add_evidence(*, intent_id: uuid.UUID, evidence: Mapping[str, Any]) -> None:
    """Adds to what is known, in any state. Raises :class:`Refused` when there is no such intent."""
    if Intent.everywhere.filter(pk=intent_id).update(evidence=appended("evidence", evidence)) != 1:
        raise _refusal("add_evidence", intent_id)


def _move(
    intent_id: uuid.UUID, verb: str, *, guard: Mapping[str, Any] | None = None, **changes: Any
) -> Intent:
    """One arrow as one statement; the row as it stands afterwards."""
    rows = Intent.everywhere.filter(pk=intent_id, status__in=arrows.sources(Intent, verb), **(guard or {}))
    if rows.update(status=arrows.target(Intent, verb), **changes) != 1:
        raise _refusal(verb, intent_id)
    row = _read(intent_id)
    if row.resource and verb in ENDS:
        fences.left(intents=[row.pk])
    return row


def _read(intent_id: uuid.UUID) -> Intent:
    row: Intent = Intent.everywhere.get(pk=intent_id)
    return row


def _refusal(verb: str, intent_id: uuid.UUID) -> Refused:
    found = Intent.everywhere.filter(pk=intent_id).values_list("status", flat=True).first() or ""
    known = bool(found) and verb in Intent.__dict__ and found in arrows.sources(Intent, verb)
    why = f"it is {found}, but of another dispatch, under a newer fence or never sent" if known else ""
    return Refused(verb, intent_id, str(found), why)
