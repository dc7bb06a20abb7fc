"""Attest: an administrator vouches that a process cannot send any more, because it was killed or cut off.

The last way to prove it, for a host that is gone with its locks: what waits only for its sender then goes on (section 5 of
the architecture, the trap). It cannot be taken back, so it is refused for a process that was heard of a moment ago.
"""

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts import audit, rights
from accounts.models import Role
from tools import workers
from tools.errors import CannotAttest
from tools.models import Intent, WorkerProcess


def attest_gone(*, worker_id: uuid.UUID, user_id: uuid.UUID, reason: str, channel: str) -> WorkerProcess:
    """Records it for the process and all its children. Owns its transaction.

    ``user_id`` must be an administrator of an active tenant. The act stands in the audit chain of every tenant in which they
    are, and of every tenant with an effect that the process may still have been sending. Raises :class:`CannotAttest`.
    """
    mine = {
        member.tenant_id
        for member in rights.memberships(user_id=user_id)
        if str(Role.ADMINISTRATOR) in member.roles
    }
    if not mine:
        raise CannotAttest("Only an administrator can attest that a process is gone.")
    if not reason.strip():
        raise CannotAttest("Say how you know that it is gone: who stopped it, and how.")
    with transaction.atomic(durable=True):
        worker = WorkerProcess.objects.select_for_update(of=("self",)).filter(pk=worker_id).first()
        if worker is None:
            raise CannotAttest("There is no such process.")
        if worker.stopped_at is not None:
            raise CannotAttest(f"It is known to be gone already ({worker.gone_how}).")
        if _heard_of(worker_id):
            raise CannotAttest("It was heard of a moment ago: it lives. Stop it first.")
        workers.gone(worker_id=worker_id, how=WorkerProcess.Gone.ATTESTED, by=user_id)
        for tenant_id in sorted(mine | _concerned(worker_id)):
            audit.append(
                tenant_id=tenant_id,
                act="worker.attested_gone",
                subject=("worker", worker_id.hex),
                actor=user_id,
                channel=channel,
                payload={
                    "host": worker.host,
                    "pid": worker.pid,
                    "node": worker.node,
                    "reason": reason.strip()[:500],
                },
            )
    return worker


def _heard_of(worker_id: uuid.UUID) -> bool:
    """Within one lease, by the database's clock."""
    recent = Now() - timedelta(seconds=float(settings.COUNTERSIGN.lease_seconds))
    return WorkerProcess.objects.filter(pk=worker_id, last_seen_at__gt=recent).exists()


def _concerned(worker_id: uuid.UUID) -> set[uuid.UUID]:
    """Tenants with an effect that it, or a child of it, may have been sending."""
    open_ones = Intent.everywhere.filter(status__in=[Intent.Status.DISPATCHED, Intent.Status.UNKNOWN])
    theirs = open_ones.filter(Q(sender_id=worker_id) | Q(sender__parent_id=worker_id))
    return set(theirs.values_list("tenant_id", flat=True))
