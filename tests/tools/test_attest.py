"""An administrator's attestation that a process is gone."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from accounts.models import AuditEntry, Role
from runs.engine.reclaim import release_gone
from runs.models import Step
from tests.runs.engine import hands
from tests.tools import make
from tools import samples
from tools.attest import attest_gone
from tools.errors import CannotAttest
from tools.models import WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)


def silent() -> WorkerProcess:
    worker = hands.worker()
    WorkerProcess.objects.filter(pk=worker.pk).update(last_seen_at=Now() - timedelta(hours=1))
    return worker


@pytest.fixture
def cast() -> Any:
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER)
    samples.seed(tenant)
    return tenant, user, make.person(tenant, Role.ADMINISTRATOR, name="Jonas Weber")


def test_what_an_attested_process_held_is_free_again(cast):
    """Guards `tools.attest.attest_gone`: the proof names the person, stands in the audit chain, and frees the steps."""
    tenant, user, admin = cast
    worker = silent()
    child = WorkerProcess.objects.create(
        kind="child", node="test", host="here", boot_id="boot", pid=2, parent=worker
    )
    hands.counter_run(tenant, user)
    (step,) = hands.take(worker)
    attest_gone(worker_id=worker.pk, user_id=admin.pk, reason="power cut", channel="console")
    for row in (worker, child):
        row.refresh_from_db()
        assert (row.gone_how, row.gone_by_id) == ("attested", admin.pk)
    assert release_gone() == 1
    assert Step.everywhere.get(pk=step.step_id).status == "PENDING"
    entry = AuditEntry.everywhere.get(tenant=tenant, act="worker.attested_gone")
    assert (entry.actor_id, entry.payload["reason"]) == (admin.pk, "power cut")


@pytest.mark.parametrize(
    ("why", "text"),
    [
        ("submitter", "Only an administrator"),
        ("alive", "it lives"),
        ("gone", "gone already"),
        ("silent reason", "how you know"),
    ],
)
def test_what_is_not_attested(cast, why, text):
    _, user, admin = cast
    worker = hands.worker() if why == "alive" else silent()
    if why == "gone":
        WorkerProcess.objects.filter(pk=worker.pk).update(stopped_at=Now(), gone_how="clean")
    person = user if why == "submitter" else admin
    with pytest.raises(CannotAttest, match=text):
        attest_gone(
            worker_id=worker.pk,
            user_id=person.pk,
            reason="" if why == "silent reason" else "x",
            channel="console",
        )
    assert not AuditEntry.everywhere.filter(act="worker.attested_gone").exists()


def test_the_command_lists_and_records(cast):
    admin = cast[2]
    worker = silent()
    out = io.StringIO()
    call_command("attest_gone", stdout=out)
    assert str(worker.pk) in out.getvalue()
    assert "1 processes are not known to be gone" in out.getvalue()
    with pytest.raises(CommandError, match="no person with the address"):
        call_command("attest_gone", str(worker.pk), reason="x")
    call_command("attest_gone", worker.pk.hex, by=admin.email, reason="unplugged", stdout=out)
    worker.refresh_from_db()
    assert worker.gone_how == "attested"
