"""The verbs of intents on real PostgreSQL: who may say what, and who wins."""

from __future__ import annotations

import pytest

from accounts.ids import new_id
from tests.tools import make
from tools import intents, samples

pytestmark = pytest.mark.django_db


@pytest.fixture
def contract():
    return make.contract(make.tenant())


def test_the_way_of_an_effect_that_succeeds(contract):
    intent = make.intent(contract, authorised=False)
    assert intent.status == "PROPOSED"
    grant = new_id()
    intent = intents.authorise(intent=intent, grant=grant)
    assert (intent.status, intent.grant) == ("AUTHORISED", grant)
    dispatch, sender = new_id(), make.sender()
    intent = intents.dispatch(
        intent=intent, sender_id=sender, dispatch_id=dispatch, fence=make.fence(), deadline_seconds=30
    )
    assert (intent.status, intent.dispatch_id, intent.sender_id, intent.dispatches) == (
        "DISPATCHED",
        dispatch,
        sender,
        1,
    )
    assert (intent.deadline - intent.dispatched_at).total_seconds() == pytest.approx(30, abs=0.1)
    intent = intents.confirm(
        intent_id=intent.pk, answer={"ok": True}, reference="<m@x>", evidence={"what": "sent"}
    )
    assert (intent.status, intent.answer, intent.reference) == ("CONFIRMED", {"ok": True}, "<m@x>")
    assert intent.ended_at is not None
    assert intent.evidence[0]["what"] == "sent"
    assert intent.evidence[0]["at"]


def test_samples_are_published_once():
    tenant = make.tenant()
    make.person(tenant)
    first = samples.seed(tenant)
    assert samples.seed(tenant) == first
    assert {row.status for row in first} == {"PUBLISHED"}
