"""Two at the same time, with real locks: the first holds its row until the database reports that the other one waits."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.ids import new_id
from tests.races.waiting import wait_until_blocked
from tests.tools import make
from tools import intents, publish, workers
from tools.errors import Refused, SenderGone
from tools.models import Contract, Intent, WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)


def second(do: Callable[[], Any]) -> Future[Any]:
    """Runs in a thread with a connection and a transaction of its own."""
    result: Future[Any] = Future()

    def run() -> None:
        try:
            with transaction.atomic():
                value = do()
            result.set_result(value)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            result.set_exception(error)
        finally:
            connection.close()

    threading.Thread(target=run, daemon=True).start()
    return result


def race(first: Callable[[], Any], other: Callable[[], Any]) -> Future[Any]:
    """``first`` wins its lock and commits only once ``other`` waits for it; the result of ``other``."""
    with transaction.atomic():
        first()
        waiting = second(other)
        wait_until_blocked()
    waiting.exception(20)
    return waiting


@pytest.fixture
def contract():
    return make.contract(make.tenant(), quiet_seconds=0)


def now(intent: Intent) -> Intent:
    row: Intent = Intent.everywhere.get(pk=intent.pk)
    return row


def test_two_proposals_under_one_key_are_one_intent(contract):
    """Danger: both see no row and both insert."""
    made: list[Intent] = []
    other = race(
        lambda: made.append(make.intent(contract, key="k", arguments={"n": 1})),
        lambda: make.intent(contract, key="k", arguments={"n": 2}),
    )
    assert other.result().pk == made[0].pk
    assert Intent.everywhere.count() == 1
    assert [entry["arguments"] for entry in now(made[0]).drift] == [{"n": 2}]


def test_a_proposal_whose_rival_rolled_back_is_the_first(contract):
    with transaction.atomic():
        make.intent(contract, key="k", arguments={"n": 1})
        waiting = second(lambda: make.intent(contract, key="k", arguments={"n": 2}))
        wait_until_blocked()
        transaction.set_rollback(True)
    intent = waiting.result(20)
    assert (intent.arguments, now(intent).drift) == ({"n": 2}, [])


def dispatch(intent: Intent, sender: uuid.UUID, fence: int) -> Callable[[], Intent]:
    return lambda: intents.dispatch(
        intent=intent, sender_id=sender, dispatch_id=new_id(), fence=fence, deadline_seconds=9
    )


def test_one_dispatch_at_a_time(contract):
    """Danger: two executors begin the same effect."""
    intent, node = make.intent(contract), make.node()
    senders = make.sender(node), make.sender(node)
    other = race(dispatch(intent, senders[0], 10**6), dispatch(intent, senders[1], 10**6 + 1))
    assert isinstance(other.exception(), Refused)
    assert (now(intent).dispatches, now(intent).sender_id) == (1, senders[0])


def test_a_confirmation_that_waits_behind_unknown_still_counts(contract):
    """Danger: the lease expired and the row became UNKNOWN in the moment in which the sender reports success."""
    intent = make.dispatched(contract)
    other = race(
        lambda: intents.lose(intent_id=intent.pk, dispatch_id=None, evidence={"what": "expired"}),
        lambda: intents.confirm(intent_id=intent.pk, answer={"line": 1}, reference="r"),
    )
    assert other.exception() is None
    assert (now(intent).status, now(intent).answer) == ("CONFIRMED", {"line": 1})


def test_unknown_that_waits_behind_a_confirmation_is_refused(contract):
    intent = make.dispatched(contract)
    other = race(
        lambda: intents.confirm(intent_id=intent.pk, answer={"line": 1}, reference="r"),
        lambda: intents.lose(intent_id=intent.pk, dispatch_id=intent.dispatch_id, evidence=None),
    )
    assert isinstance(other.exception(), Refused)
    assert now(intent).status == "CONFIRMED"


def test_two_answers_of_two_people_and_the_first_stays(contract):
    """Danger: one settles *it did not happen* while another one settles *nobody can know*."""
    intent = make.in_state(contract, "UNKNOWN")
    other = race(
        lambda: intents.abandon(intent_id=intent.pk, evidence={"by": "Ben"}),
        lambda: intents.refuse(intent_id=intent.pk, dispatch_id=intent.dispatch_id, evidence={"by": "Mira"}),
    )
    assert isinstance(other.exception(), Refused)
    assert now(intent).status == "ABANDONED"


def test_two_confirmations_and_the_first_answer_stays(contract):
    intent = make.dispatched(contract)
    other = race(
        lambda: intents.confirm(intent_id=intent.pk, answer={"line": 1}, reference="first"),
        lambda: intents.confirm(intent_id=intent.pk, answer={"line": 2}, reference="second"),
    )
    assert other.result().answer == {"line": 1}
    assert now(intent).evidence[-1]["reference"] == "second"


def test_evidence_of_two_is_kept_of_both(contract):
    """Danger: read, append, write back: the slower one wipes out the other."""
    intent = make.dispatched(contract)
    race(
        lambda: intents.add_evidence(intent_id=intent.pk, evidence={"n": 1}),
        lambda: intents.add_evidence(intent_id=intent.pk, evidence={"n": 2}),
    )
    assert [item["n"] for item in now(intent).evidence] == [1, 2]


def test_a_child_of_a_node_that_is_just_declared_gone_does_not_send(contract):
    """Danger: the child is registered between the proof and the look at the children, and stays alive in the books."""
    node, child = make.node(), new_id()
    other = race(
        lambda: workers.gone(worker_id=node.pk, how="lock"),
        lambda: workers.child_sender(parent_id=node.pk, sender_id=child, pid=7),
    )
    assert isinstance(other.exception(), SenderGone)
    assert not WorkerProcess.objects.filter(pk=child).exists()


def test_a_proof_that_waits_behind_a_new_child_covers_it(contract):
    node, child = make.node(), new_id()
    race(
        lambda: workers.child_sender(parent_id=node.pk, sender_id=child, pid=7),
        lambda: workers.gone(worker_id=node.pk, how="lock"),
    )
    assert WorkerProcess.objects.get(pk=child).gone_how == "lock"


def test_one_contract_is_in_force_whoever_publishes(contract):
    tool = contract.tool
    with transaction.atomic():
        drafts = [publish.draft(tool=tool, **make.DECLARED, max_attempts=n) for n in (4, 5)]
    other = race(
        lambda: publish.put_in_force(contract_id=drafts[0].pk, by=None),
        lambda: publish.put_in_force(contract_id=drafts[1].pk, by=None),
    )
    assert other.exception() is None
    rows = Contract.everywhere.filter(tool=tool).order_by("version").values_list("version", "status")
    assert list(rows) == [(1, "RETIRED"), (2, "RETIRED"), (3, "PUBLISHED")]
