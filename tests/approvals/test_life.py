"""The card after the decision, in every state it can come to; and what the list costs."""

from __future__ import annotations

import re
import uuid
from html import unescape

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.ids import new_id
from accounts.models import User
from approvals import grants, links
from approvals.expire import expire
from approvals.models import PendingAction
from approvals.notes import opened as notes
from approvals.withdraw import withdraw_open
from tests.approvals.test_pages import everything, page, signed_in
from tests.make import approvals as make
from tests.tools import make as bench
from tools import intents

pytestmark = pytest.mark.django_db


@pytest.fixture
def house():
    return make.house()


def sent(action: PendingAction) -> tuple[uuid.UUID, uuid.UUID]:
    """Begin, and the names by which the outcome is told."""
    dispatch_id = new_id()
    with transaction.atomic():
        grants.consume(action_id=action.pk)
        begun = intents.dispatch(
            intent=make.about(action),
            sender_id=bench.sender(),
            dispatch_id=dispatch_id,
            fence=bench.fence(),
            deadline_seconds=60,
        )
    return begun.pk, dispatch_id


def approved(house: make.House, action: PendingAction) -> None:
    make.answer(action, house.ben, "approve")


def confirmed(house: make.House, action: PendingAction) -> None:
    approved(house, action)
    intents.confirm(intent_id=sent(action)[0], answer={}, reference="4KxR2p")


def unknown(house: make.House, action: PendingAction) -> None:
    approved(house, action)
    intent_id, dispatch_id = sent(action)
    intents.lose(intent_id=intent_id, dispatch_id=dispatch_id, evidence={"code": "lost"})


def failed(house: make.House, action: PendingAction) -> None:
    approved(house, action)
    intent_id, dispatch_id = sent(action)
    intents.refuse(intent_id=intent_id, dispatch_id=dispatch_id, evidence={"code": "550"})


def voided(house: make.House, action: PendingAction) -> None:
    approved(house, action)
    grants.void(action_id=action.pk, reason="The parameters are not the ones that were approved.")


def rejected(house: make.House, action: PendingAction) -> None:
    make.answer(action, house.ben, "reject")


def expired(house: make.House, action: PendingAction) -> None:
    expire(action_id=action.pk, now=make.ends(action))


def withdrawn(house: make.House, action: PendingAction) -> None:
    withdraw_open(run_id=action.run_id, kinds=["approve"])


STATES = {
    approved: ("COUNTERSIGNED", "Waiting to be sent"),
    confirmed: ("COUNTERSIGNED", "was sent", "4KxR2p", "exactly what was approved"),
    unknown: ("COUNTERSIGNED", "may have been sent", "until a person says what happened"),
    failed: ("COUNTERSIGNED", "was not sent", "Did not happen"),
    voided: ("VOID", "Void", "not the ones that were approved"),
    rejected: ("Rejected", "Wrong year.", "Nothing was sent"),
    expired: ("Time ran out", "Nobody decided in time"),
    withdrawn: ("no longer asks",),
}


@pytest.mark.parametrize("came_to", STATES, ids=lambda state: state.__name__)
def test_the_card_goes_on_living(house, came_to):
    action = make.question(house)
    came_to(house, action)
    html = page(signed_in(house.mira), links.action(action.pk))
    card = html[html.index('<article class="action"') :]
    for words in STATES[came_to]:
        assert words in card
    assert ("COUNTERSIGNED" in card) == ("COUNTERSIGNED" in STATES[came_to])
    assert 'name="verdict"' not in card
    assert f'id="item-{action.pk.hex}"' in page(signed_in(house.mira), "/inbox/?tab=decided")


@pytest.mark.parametrize("verdict", ["happened", "not_happened", "nobody_knows"])
def test_a_settled_outcome_says_who_said_what(house, verdict):
    action = make.settle(house)
    make.answer(action, house.mira, verdict)
    html = page(signed_in(house.ben), links.action(action.pk))
    assert "Mira Sandoval" in html
    assert "What was recorded" in html
    assert 'name="verdict"' not in html


def test_a_takeover_says_who_went_on(house):
    action = make.takeover(house)
    make.answer(action, house.ada, "fail", comment="No longer needed.")
    html = page(signed_in(house.ben), links.action(action.pk))
    assert "No longer needed." in html
    assert 'name="verdict"' not in html


def test_the_first_signature_is_shown_to_the_second_signer(house):
    action = make.question(house, policy={**make.POLICY, "quorum": 2})
    make.answer(action, house.ben, "approve")
    html = page(signed_in(house.mira), links.action(action.pk))
    assert "Approve, 2 of 2" in re.sub(r"<[^>]+>", "", html)
    assert "1 of 2 have signed" in html
    own = page(signed_in(house.ben), links.action(action.pk))
    assert "You have given your answer" in own
    assert 'name="verdict"' not in own


def test_the_number_beside_inbox_is_that_of_the_list(house):
    for _ in range(3):
        make.question(house)
    badge = re.compile(r'id="inbox-count"[^>]*>(\d+)<')
    for person, count in ((house.ben, "3"), (house.ada, "0"), (house.jonas, "0")):
        assert badge.findall(page(signed_in(person), "/inbox/")) == [count]


@pytest.mark.parametrize("tab", ["mine", "decided"])
def test_a_longer_list_costs_no_more_queries(house, tab):
    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as found:
            page(client, f"/inbox/?tab={tab}")
        return len(found)

    def add(count: int) -> None:
        for _ in range(count):
            action = make.question(house)
            if tab == "decided":
                make.answer(action, house.mira, "reject")

    client = signed_in(house.ben)
    add(2)
    few = cost()
    add(10)
    assert cost() == few


def test_the_page_of_an_action_is_cheap(house):
    action, client = make.question(house), signed_in(house.ben)
    with CaptureQueriesContext(connection) as found:
        page(client, links.action(action.pk))
    assert len(found) < 45, [query["sql"][:80] for query in found]


@pytest.mark.parametrize("method", ["get", "head", "options"])
@pytest.mark.parametrize(
    "opened", [make.question, make.settle, make.takeover], ids=lambda make: make.__name__
)
def test_b51_no_link_of_a_mail_changes_anything(house, opened, method):
    """Guards approvals/notes/common.py and approvals/views: the link of a mail opens a page, for a stranger the door, and neither a
    mail scanner nor a signed-in browser that only follows it decides anything."""
    action = opened(house)
    told: list[User] = notes.recipients({"action_id": action.pk})
    letter = notes.letter({"action_id": action.pk}, told[0])
    assert letter is not None
    addresses = re.findall(r"https?://[^/\s]+(/\S*)", unescape(str(letter)).replace("\\n", " "))
    assert addresses
    before = everything()
    for client in (Client(), signed_in(told[0])):
        for address in addresses:
            assert getattr(client, method)(address).status_code in (200, 302, 405)
    assert everything() == before


def test_a_submitter_is_not_asked_to_decide_on_their_own_task(house):
    make.roles(house, house.ada, "submitter", "approver")
    told = notes.recipients({"action_id": make.question(house).pk})
    assert {user.pk for user in told} == {house.ben.pk, house.mira.pk}


def test_an_approval_is_taken_back_on_its_card_while_nothing_was_sent(house):
    action = make.question(house)
    approved(house, action)
    ben = signed_in(house.ben)
    address = links.verb("take_back", action.pk)
    assert address in page(ben, links.action(action.pk))
    answer = ben.post(address, follow=True)
    assert "In time: nothing was sent" in unescape(answer.content.decode())
    html = page(ben, links.action(action.pk))
    assert f"{house.ben} took the approval back before it was sent." in html
    assert address not in html
    assert make.about(action).status == "PROPOSED"


def test_what_was_begun_cannot_be_taken_back_and_the_card_says_so(house):
    action = make.question(house)
    approved(house, action)
    sent(action)
    ben = signed_in(house.ben)
    address = links.verb("take_back", action.pk)
    assert address not in page(ben, links.action(action.pk))
    answer = ben.post(address)
    assert answer.status_code == 409
    assert "It was too late: it had been sent already." in unescape(answer.content.decode())


def test_the_stamp_of_an_approval_that_was_taken_back_is_struck(house):
    action = make.question(house)
    ben = signed_in(house.ben)
    make.answer(action, house.ben, "approve")
    assert 'class="stamp"><b>COUNTERSIGNED' in page(ben, links.action(action.pk))
    ben.post(links.verb("take_back", action.pk))
    html = page(ben, links.action(action.pk))
    assert 'class="stamp void"><b>VOID' in html
    assert "COUNTERSIGNED" not in html
