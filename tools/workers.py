"""The registry of processes that may send, and the rule that keeps a second send away from an old sender.

*Gone* is proven, never guessed from silence: ``clean`` exit, the node's ``lock`` released by the last
process that held it, its ``supervisor`` saw it die, or ``attested`` by a person.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from django.utils.translation import gettext_noop as _

from tools.errors import SenderGone
from tools.models import Contract, Intent, WorkerProcess
from tools.reasons import Reason

#: These prove that the children are gone with their parent. That a supervisor saw the parent die does not.
WITH_CHILDREN = (WorkerProcess.Gone.CLEAN, WorkerProcess.Gone.LOCK, WorkerProcess.Gone.ATTESTED)


@dataclass(frozen=True, slots=True)
class Gone:
    """The proof that a process cannot send any more, and since when it is known."""

    how: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Blocked(Reason):
    """Why a step may not go on after *It did not happen*. ``until``: when to look again, if that is known."""

    until: datetime | None = None


def register(
    *,
    kind: str,
    node: str,
    host: str,
    boot_id: str,
    pid: int,
    lockfile: str,
    parent: WorkerProcess | None = None,
    agents: Sequence[str] = (),
) -> WorkerProcess:
    """A row for this start of a process; ``agents`` are the digests of the agents whose code it has. Joins the
    caller's transaction."""
    worker: WorkerProcess = WorkerProcess.objects.create(
        kind=kind,
        node=node,
        host=host,
        boot_id=boot_id,
        pid=pid,
        lockfile=lockfile,
        parent=parent,
        agents=list(agents),
    )
    return worker


def child_sender(*, parent_id: uuid.UUID, sender_id: uuid.UUID, pid: int) -> uuid.UUID:
    """The row of a child that is about to send, made if missing. Joins the transaction of begin.

    Raises :class:`SenderGone` when the child or its parent is recorded as gone. The parent's row is held
    while the child's is made, so that a parent declared gone meanwhile takes this child along.
    """
    known = WorkerProcess.objects.select_related("parent").filter(pk=sender_id).first()
    if known is None:
        parent = WorkerProcess.objects.select_for_update(no_key=True).filter(pk=parent_id).first()
        if parent is None or parent.stopped_at is not None:
            raise SenderGone(f"The node process {parent_id} is recorded as gone.")
        fresh = WorkerProcess(
            id=sender_id,
            kind=WorkerProcess.Kind.CHILD,
            parent=parent,
            node=parent.node,
            host=parent.host,
            boot_id=parent.boot_id,
            lockfile=parent.lockfile,
            pid=pid,
        )
        WorkerProcess.objects.bulk_create([fresh], ignore_conflicts=True)
        known = WorkerProcess.objects.select_related("parent").get(pk=sender_id)
    if known.parent_id != parent_id:
        raise ValueError(f"The child {sender_id} belongs to another node process.")
    if _proof(known) is not None:
        raise SenderGone(f"The sender {sender_id} is recorded as gone.")
    return sender_id


def before_restore(*, generation: int) -> str:
    """The name of the row that stands for every process from before a restore, those that the backup does not know
    included."""
    return f"before-restore-{generation}"


def attest_all(*, generation: int, by: uuid.UUID) -> uuid.UUID:
    """An administrator attests that every process from before this start of the database is stopped or cut off; gives the
    row that stands for those of which nothing is known. Joins the caller's transaction."""
    with connection.cursor() as old:
        old.execute("SELECT pg_postmaster_start_time()")
        (since,) = old.fetchone() or (None,)
    gone_now = {"stopped_at": Now(), "gone_how": WorkerProcess.Gone.ATTESTED, "gone_by_id": by}
    WorkerProcess.objects.filter(stopped_at__isnull=True, started_at__lt=since).update(**gone_now)
    name = before_restore(generation=generation)
    known = WorkerProcess.objects.filter(node=name).first()
    if known is None:
        known = WorkerProcess.objects.create(kind="main", node=name, host="", boot_id="", pid=0, **gone_now)
    row: WorkerProcess = known
    return row.pk


def seen(*, worker_id: uuid.UUID, claimed: bool = False, draining: bool = False) -> bool:
    """A sign of life. False: this process is recorded as gone and must stop. Joins the caller's
    transaction."""
    signs: dict[str, Any] = {"last_seen_at": Now()}
    if claimed:
        signs["last_claim_at"] = Now()
    if draining:
        signs["draining"] = True
    return WorkerProcess.objects.filter(pk=worker_id, stopped_at__isnull=True).update(**signs) == 1


def gone(*, worker_id: uuid.UUID, how: str, by: uuid.UUID | None = None) -> bool:
    """Records the proof that a process cannot send any more; False when it was recorded before, which stays.

    With ``clean``, ``lock`` and ``attested`` its children are gone too. ``attested`` needs the person's id.
    Joins the caller's transaction.
    """
    if how not in WorkerProcess.Gone.values:
        raise ValueError(f"{how!r} is no proof that a process is gone.")
    if (how == WorkerProcess.Gone.ATTESTED) != (by is not None):
        raise ValueError("A person attests, and only attestation has a person.")
    alive = WorkerProcess.objects.filter(stopped_at__isnull=True)
    proof = {"stopped_at": Now(), "gone_how": how, "gone_by_id": by}
    won = alive.filter(pk=worker_id).update(**proof) == 1
    if how in WITH_CHILDREN:
        alive.filter(parent_id=worker_id).update(**proof)
    return won


def is_gone(*, worker_id: uuid.UUID) -> Gone | None:
    """The proof, if there is one: its own or that of its parent."""
    worker = WorkerProcess.objects.select_related("parent").filter(pk=worker_id).first()
    return _proof(worker) if worker else None


def may_go_on(*, intent: Intent, now: datetime | None = None, resend: bool = True) -> Blocked | None:
    """Whether an effect whose outcome is open may be sent again without risking a second one; None: it may.

    It may when the far side drops repeats of our key and still remembers it, or enforces a deadline that
    has passed, or when nobody can still send and the contract's quiet time has passed since that is known.
    Nobody can still send: the sender is proven gone, or reported itself that it has stopped. A sender that
    is only silent may be paused and will send when it thaws. ``now`` is the database's time unless given.

    Under the takeover rule ``known_gone`` only the last of these counts.

    Without ``resend`` it is not to be sent again but written down as not sent: then a far side that drops
    repeats helps nothing.
    """
    if intent.status not in (Intent.Status.DISPATCHED, Intent.Status.UNKNOWN):
        return None
    if intent.sender_id is None or intent.dispatched_at is None:
        return Blocked("sender_unknown", _("It is not known which process was to send it."))
    now = now or _now_beside(intent.sender_id)
    contract = intent.contract
    alone = contract.takeover_rule == Contract.TakeoverRule.KNOWN_GONE
    if resend and not alone and contract.native_idempotency and _remembered(intent, now):
        return None
    if (
        not alone
        and contract.enforces_deadline
        and intent.deadline is not None
        and intent.deadline + _clock_error() < now
    ):
        return None
    ended = _sending_ended(intent)
    if ended is None and not alone and contract.enforces_deadline and intent.deadline is not None:
        text = _("The other side may still take it until %(until)s.")
        taken_until = intent.deadline + _clock_error()
        shown = f"{taken_until.astimezone(UTC):%H:%M:%S} UTC"
        return Blocked("deadline", text, {"until": shown}, until=taken_until)
    if ended is None:
        return _sender_may_live(intent)
    quiet_until = ended + timedelta(seconds=contract.quiet_seconds)
    if quiet_until > now:
        # The same words until then: they are stored beside the step, and a countdown would write it every second.
        text = _("What was sent may still be under way until %(until)s.")
        shown = f"{quiet_until.astimezone(UTC):%H:%M:%S} UTC"
        return Blocked("quiet", text, {"until": shown}, until=quiet_until)
    return None


def _now_beside(worker_id: uuid.UUID) -> datetime:
    """The database's time."""
    now: datetime = WorkerProcess.objects.annotate(now=Now()).values_list("now", flat=True).get(pk=worker_id)
    return now


def _remembered(intent: Intent, now: datetime) -> bool:
    """Counted from the first dispatch whose outcome is open: a later one may never have arrived."""
    memory = intent.contract.key_memory_seconds
    if memory == 0:
        return True
    first = intent.open_since or intent.dispatched_at
    assert first is not None
    return first + timedelta(seconds=memory) - _clock_error() > now


def _sending_ended(intent: Intent) -> datetime | None:
    """Since when it is known that nobody sends any more, under the current dispatch or an earlier one that is open."""
    assert intent.sender_id is not None
    proof = is_gone(worker_id=intent.sender_id)
    known = [moment for moment in (intent.sender_done_at, proof.at if proof else None) if moment]
    if not known:
        return None
    earlier = [is_gone(worker_id=sender) for sender in set(intent.open_senders)]
    if any(one is None for one in earlier):
        return None
    return max([min(known), *(one.at for one in earlier if one is not None)])


def remembers(*, intent: Intent, now: datetime | None = None) -> bool:
    """Whether the far side drops repeats of the key of this effect, and still remembers it. Where only one worker may
    ever be at it, that helps nothing before the first one is known to be gone."""
    if intent.sender_id is None or intent.dispatched_at is None or not intent.contract.native_idempotency:
        return False
    alone = intent.contract.takeover_rule == Contract.TakeoverRule.KNOWN_GONE
    if alone and _sending_ended(intent) is None:
        return False
    return _remembered(intent, now or _now_beside(intent.sender_id))


def _sender_may_live(intent: Intent) -> Blocked:
    sender = intent.sender
    assert sender is not None
    text = _(
        "Process %(pid)s of node %(node)s on %(host)s may still send it: nothing proves that it is gone."
    )
    return Blocked("sender_not_gone", text, {"pid": sender.pid, "node": sender.node, "host": sender.host})


def _proof(worker: WorkerProcess) -> Gone | None:
    if worker.stopped_at is not None:
        return Gone(worker.gone_how, worker.stopped_at)
    parent = worker.parent
    if parent is not None and parent.stopped_at is not None and parent.gone_how in WITH_CHILDREN:
        return Gone(parent.gone_how, parent.stopped_at)
    return None


def _clock_error() -> timedelta:
    return timedelta(seconds=float(settings.COUNTERSIGN.clock_error_seconds))
