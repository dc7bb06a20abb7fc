"""The registry of senders, and the trap: after *it did not happen*, when may a step go on?"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from accounts.ids import new_id
from tests.tools import make
from tools import intents, workers
from tools.errors import SenderGone
from tools.models import WorkerProcess

pytestmark = pytest.mark.django_db


@pytest.fixture
def contract():
    return make.contract(make.tenant(), quiet_seconds=60)


def unknown(contract: Any, **values: Any) -> Any:
    row = make.dispatched(contract, **values)
    return intents.lose(intent_id=row.pk, dispatch_id=None, evidence={"what": "lease expired"})


def database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


def code(intent: Any, later: timedelta = timedelta()) -> str:
    """Why the step may not go on, or nothing."""
    blocked = workers.may_go_on(intent=intent, now=database_now() + later)
    return blocked.code if blocked else ""


def test_a_child_is_registered_when_it_first_sends():
    node, child = make.node(), new_id()
    assert workers.child_sender(parent_id=node.pk, sender_id=child, pid=7) == child
    assert workers.child_sender(parent_id=node.pk, sender_id=child, pid=7) == child
    row = WorkerProcess.objects.get(pk=child)
    assert (row.kind, row.parent_id, row.node, row.host, row.pid) == ("child", node.pk, "n1", "h1", 7)


def test_a_child_belongs_to_one_node():
    child = make.sender()
    with pytest.raises(ValueError, match="another node"):
        workers.child_sender(parent_id=make.node().pk, sender_id=child, pid=7)


@pytest.mark.parametrize("how", ["clean", "lock"])
def test_who_is_gone_never_becomes_a_sender_again(how):
    node = make.node()
    child = make.sender(node)
    workers.gone(worker_id=node.pk, how=how)
    with pytest.raises(SenderGone):
        workers.child_sender(parent_id=node.pk, sender_id=child, pid=101)
    with pytest.raises(SenderGone):
        workers.child_sender(parent_id=node.pk, sender_id=new_id(), pid=102)
    assert not workers.seen(worker_id=node.pk)


def test_a_node_that_was_seen_to_die_gets_no_new_children():
    node = make.node()
    workers.gone(worker_id=node.pk, how="supervisor")
    with pytest.raises(SenderGone):
        workers.child_sender(parent_id=node.pk, sender_id=new_id(), pid=102)
    with pytest.raises(SenderGone):
        workers.child_sender(parent_id=new_id(), sender_id=new_id(), pid=103)


def test_a_sign_of_life_is_taken_from_the_living():
    node = make.node()
    assert workers.seen(worker_id=node.pk, claimed=True, draining=True)
    row = WorkerProcess.objects.get(pk=node.pk)
    assert row.last_claim_at is not None
    assert row.draining


@pytest.mark.parametrize(("how", "with_children"), [("clean", True), ("lock", True), ("supervisor", False)])
def test_which_proof_covers_the_children(how, with_children):
    """A supervisor that saw the main process die has not seen its children die."""
    node = make.node()
    child = make.sender(node)
    assert workers.gone(worker_id=node.pk, how=how)
    assert (workers.is_gone(worker_id=child) is not None) == with_children
    found = workers.is_gone(worker_id=node.pk)
    assert found is not None
    assert found.how == how


def test_attestation_names_the_person_and_covers_the_children():
    tenant = make.tenant()
    person = make.person(tenant, "administrator")
    node = make.node()
    child = make.sender(node)
    with pytest.raises(ValueError, match="attest"):
        workers.gone(worker_id=node.pk, how="attested")
    with pytest.raises(ValueError, match="attest"):
        workers.gone(worker_id=node.pk, how="lock", by=person.pk)
    assert workers.gone(worker_id=node.pk, how="attested", by=person.pk)
    assert workers.is_gone(worker_id=child) is not None


def test_the_first_proof_stays():
    node = make.node()
    assert workers.gone(worker_id=node.pk, how="lock")
    assert not workers.gone(worker_id=node.pk, how="clean")
    found = workers.is_gone(worker_id=node.pk)
    assert found is not None
    assert found.how == "lock"


def test_silence_proves_nothing(contract):
    """However long the sender was not heard of: it may be paused, and sends when it thaws."""
    intent = unknown(contract)
    blocked = workers.may_go_on(intent=intent, now=database_now() + timedelta(days=30))
    assert blocked is not None
    assert blocked.code == "sender_not_gone"
    assert "101" in str(blocked)
    assert "n1" in str(blocked)


@pytest.mark.parametrize("how", ["clean", "lock", "supervisor"])
def test_a_sender_that_is_gone_and_the_quiet_time(contract, how):
    sender = make.sender()
    intent = unknown(contract, by=sender)
    workers.gone(worker_id=sender, how=how)
    found = workers.is_gone(worker_id=sender)
    assert found is not None
    at = found.at
    early = workers.may_go_on(intent=intent, now=at + timedelta(seconds=59))
    assert early is not None
    assert (early.code, early.until) == ("quiet", at + timedelta(seconds=60))
    assert workers.may_go_on(intent=intent, now=at + timedelta(seconds=61)) is None


def test_the_node_is_gone_and_with_it_its_child(contract):
    node = make.node()
    intent = unknown(contract, by=make.sender(node))
    workers.gone(worker_id=node.pk, how="supervisor")
    assert code(intent, timedelta(days=1)) == "sender_not_gone"
    again = make.node()
    intent = unknown(contract, by=make.sender(again))
    workers.gone(worker_id=again.pk, how="lock")
    assert workers.may_go_on(intent=intent, now=database_now() + timedelta(days=1)) is None


def test_a_sender_that_reports_its_end_is_as_good_as_gone(contract):
    row = make.dispatched(contract)
    intent = intents.lose(
        intent_id=row.pk, dispatch_id=row.dispatch_id, evidence={"what": "time-out"}, sender_done=True
    )
    assert code(intent) == "quiet"
    assert workers.may_go_on(intent=intent, now=database_now() + timedelta(seconds=61)) is None


def test_a_far_side_that_drops_repeats_of_the_key():
    keyed = make.contract(make.tenant(), native_idempotency=True)
    assert workers.may_go_on(intent=unknown(keyed)) is None


def test_that_repeats_are_dropped_does_not_make_it_known_that_nothing_was_sent():
    """Guards `resend`: a cancelled step is written down as not sent only when its sender has stopped."""
    keyed = make.contract(make.tenant(), native_idempotency=True)
    blocked = workers.may_go_on(intent=unknown(keyed), resend=False)
    assert blocked is not None
    assert blocked.code == "sender_not_gone"


def test_a_far_side_that_has_forgotten_the_key():
    memory = 300_000
    keyed = make.contract(make.tenant(), native_idempotency=True, key_memory_seconds=memory)
    intent = unknown(keyed)
    assert workers.may_go_on(intent=intent, now=intent.dispatched_at + timedelta(seconds=memory - 5)) is None
    late = workers.may_go_on(intent=intent, now=intent.dispatched_at + timedelta(seconds=memory))
    assert late is not None
    assert late.code == "sender_not_gone"


def test_a_far_side_that_enforces_the_deadline():
    strict = make.contract(make.tenant(), enforces_deadline=True)
    intent = unknown(strict, seconds=30)
    assert workers.may_go_on(intent=intent, now=intent.deadline) is not None
    assert workers.may_go_on(intent=intent, now=intent.deadline + timedelta(seconds=1)) is None


def test_a_deadline_that_only_we_know_proves_nothing(contract):
    intent = unknown(contract, seconds=1)
    assert workers.may_go_on(intent=intent, now=intent.deadline + timedelta(days=1)) is not None


def test_what_was_never_sent_needs_no_proof(contract):
    assert workers.may_go_on(intent=make.intent(contract)) is None
