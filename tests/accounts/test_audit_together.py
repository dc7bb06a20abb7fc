"""An act and its entry: both or neither (checklist 21); and sixteen writers of one chain at once."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections, transaction

from accounts import audit
from accounts.models import AuditEntry, Invitation, Membership, Tenant
from accounts.verbs.change_roles import change_roles
from accounts.verbs.disable_person import disable_person
from accounts.verbs.invite import invite
from accounts.verbs.issue_token import issue_token
from approvals.models import Decision, PendingAction
from outbox.models import Message, WebhookEndpoint
from outbox.verbs.open_webhook import open_webhook
from runs.engine.cancel import cancel
from runs.models import Event, Run
from tests.make import people
from tests.make import runs as make
from tools import vault
from tools.models import Secret

pytestmark = pytest.mark.django_db(transaction=True)
WRITERS, EACH = 16, 10


class LogIsFull(Exception):
    """Stands for whatever may keep the entry from being written."""


@pytest.fixture
def house() -> make.House:
    return make.house()


def everything(run: Run) -> dict[str, Any]:
    """All that the verbs below change."""
    return {
        "run": list(Run.everywhere.filter(pk=run.pk).values_list("status", "version", "event_seq")),
        "events": Event.everywhere.filter(run_id=run.pk).count(),
        "actions": list(PendingAction.everywhere.order_by("pk").values_list("status", flat=True)),
        "decisions": Decision.everywhere.count(),
        "messages": Message.objects.count(),
        "members": list(Membership.everywhere.order_by("pk").values_list("roles", "disabled_at")),
        "invitations": Invitation.everywhere.count(),
        "secrets": list(Secret.everywhere.values_list("name", flat=True)),
        "webhooks": WebhookEndpoint.everywhere.count(),
        "entries": AuditEntry.everywhere.count(),
    }


def verbs(house: make.House, run: Run) -> dict[str, Callable[[], object]]:
    tenant, by = house.tenant.pk, house.jonas.pk
    ben = people.membership(house.tenant, house.ben).pk
    return {
        "decide": lambda: house.answer(run, "approve"),
        "cancel": lambda: cancel(run_id=run.pk, user_id=house.ada.pk),
        "invite": lambda: invite(tenant_id=tenant, actor_id=by, email="nia@new.example", roles=["submitter"]),
        "change roles": lambda: change_roles(tenant_id=tenant, actor_id=by, membership_id=ben, roles=["submitter"]),
        "disable": lambda: disable_person(tenant_id=tenant, actor_id=by, membership_id=ben),
        "issue a token": lambda: issue_token(tenant_id=tenant, user_id=by, name="t", scopes=["read"], expires_at=None),
        "keep a secret": lambda: vault.keep(tenant_id=tenant, name="erp", value="canary", by=by),
        "open a webhook": lambda: open_webhook(tenant_id=tenant, by=by, name="ERP", url="https://erp.example/"),
    }  # fmt: skip


def test_c21_without_its_entry_nothing_is_done(house: make.House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards every verb's transaction: decision, change of state, event, message and entry commit together."""
    run = house.reviewed()
    before = everything(run)

    def full(*_: object, **__: object) -> None:
        raise LogIsFull

    for name, verb in verbs(house, run).items():
        with monkeypatch.context() as patch:
            patch.setattr("accounts.audit.append_many", full)
            with pytest.raises(LogIsFull):
                verb()
        assert everything(run) == before, name
    for name, verb in verbs(house, run).items():
        entries = AuditEntry.everywhere.count()
        verb()
        assert AuditEntry.everywhere.count() > entries, name
    assert audit.verify(tenant_id=house.tenant.pk) == []


def test_sixteen_writers_make_one_chain(house: make.House) -> None:
    """The promise is 100 entries a second under 16 writers; here a fifth of it, on a machine that does other things too."""
    tenant, faults = house.tenant, []

    def write(number: int) -> None:
        try:
            for place in range(EACH):
                _one(tenant, number, place)
        except Exception as error:  # noqa: BLE001 - told to the test
            faults.append(error)
        finally:
            connections.close_all()

    before = AuditEntry.everywhere.filter(tenant=tenant).count()
    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - started
    assert faults == []
    assert AuditEntry.everywhere.filter(tenant=tenant).count() == before + WRITERS * EACH
    assert audit.verify(tenant_id=tenant.pk) == []
    assert WRITERS * EACH / took > 20


def _one(tenant: Tenant, number: int, place: int) -> None:
    with transaction.atomic():
        Message.objects.create(tenant=tenant, topic="step.ready", key=uuid.uuid4().hex)
        audit.append(tenant_id=tenant.pk, act="thing.done", subject=("thing", f"{number}/{place}"))
