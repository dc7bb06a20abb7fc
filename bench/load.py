"""The work of a bench: a tenant, and runs that count."""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import Membership, Role, Tenant, User
from runs.engine.submit import submit
from runs.models import Run
from runs.states import RUN_TERMINAL
from tools import samples

PAUSE = 0.02


class NotDone(Exception):
    """The runs did not end in time, or did not succeed."""


@dataclass(frozen=True)
class Cast:
    tenant: Tenant
    submitter: User


def cast() -> Cast:
    """A tenant with the sample contracts, and who submits."""
    tenant = Tenant.objects.create(
        name="Bench", slug=f"bench-{secrets.token_hex(4)}", mail_from="desk@bench.example"
    )
    people = {}
    for role in (Role.SUBMITTER, Role.APPROVER):
        user = User.objects.create_user(f"{role.value}-{secrets.token_hex(4)}@bench.example", name=role.label)
        Membership.everywhere.create(tenant=tenant, user=user, roles=[role])
        people[role] = user
    samples.seed(tenant)
    return Cast(tenant, people[Role.SUBMITTER])


def count(who: Cast, *, runs: int, steps: int) -> list[uuid.UUID]:
    """Submits runs of so many steps each."""
    return submit_runs(who, runs=runs, input={"steps": steps})


def submit_runs(who: Cast, *, runs: int, input: Mapping[str, Any]) -> list[uuid.UUID]:
    """Submits runs of the counting agent."""
    made = []
    for _ in range(runs):
        run, _created = submit(
            tenant_id=who.tenant.pk,
            submitter_id=who.submitter.pk,
            agent="drill-counter",
            goal="Count",
            input=input,
            submit_key=uuid.uuid4().hex,
        )
        made.append(run.pk)
    return made


def script(who: Cast, *, rounds: Sequence[Sequence[Mapping[str, Any]]]) -> uuid.UUID:
    """Submits one run of the agent that follows a script."""
    run, _created = submit(
        tenant_id=who.tenant.pk,
        submitter_id=who.submitter.pk,
        agent="drill-script",
        goal="Follow the script",
        input={"rounds": rounds},
        submit_key=uuid.uuid4().hex,
    )
    return run.pk


def wait(runs: list[uuid.UUID], *, seconds: float = 120, alive: Callable[[], bool] = lambda: True) -> None:
    """Returns when all have succeeded. Raises :class:`NotDone`, at once when what does the work is not ``alive``."""
    left = Run.everywhere.filter(pk__in=runs).exclude(status__in=RUN_TERMINAL)
    until(lambda: not left.exists(), what=f"{len(runs)} runs end", seconds=seconds, alive=alive)
    failed = Run.everywhere.filter(pk__in=runs).exclude(status="SUCCEEDED")
    first = failed.first()
    if first is not None:
        raise NotDone(f"{failed.count()} runs did not succeed: {first.failure}")


def until(
    holds: Callable[[], bool],
    *,
    what: str,
    seconds: float = 120,
    alive: Callable[[], bool] = lambda: True,
) -> None:
    """Returns once ``holds``. Raises :class:`NotDone` after so many seconds, or at once when nobody is ``alive``."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end or not alive():
            raise NotDone(f"Waited until {what}: it did not come within {seconds:g} s, or the node died.")
        time.sleep(PAUSE)
