"""Nothing is approved unread: what the page folds must have been opened, and the service asks for it too (B63)."""

from __future__ import annotations

import re

import pytest

from accounts.ids import public
from approvals import links
from approvals.models import Decision, PendingAction, Viewing
from tests.approvals.test_pages import page, post, signed_in
from tests.make import approvals as make
from tests.rest.client import Rest

pytestmark = pytest.mark.django_db(transaction=True)

DEEP = "transfer_everything_to"


@pytest.fixture
def house():
    return make.house()


@pytest.fixture
def action(house) -> PendingAction:
    """200 KB, nested, with one dangerous field deep inside."""
    filling = [{"row": number, "text": "x" * 90} for number in range(2000)]
    nested = {"a": {"b": [*filling, {"c": {DEEP: "mallory@evil.example"}}]}}
    return make.question(house, about=make.intent(house, arguments={**make.LETTER, "data": nested}))


def test_b63_a_payload_that_is_folded_is_reachable_whole_and_must_be_opened(house, action):
    """Guards approvals/decide.py `judge`, the line that asks `viewing.unread`; and the page, which holds the whole."""
    ben = signed_in(house.ben)
    html = page(ben, links.action(action.pk))
    assert DEEP in html
    assert re.search(r"<details[^>]*data-must-open", html)
    assert 'name="everything" value=""' in html
    refused = post(ben, action, "approve")
    assert refused.status_code == 409
    assert "was not opened. Nothing was approved" in refused.content.decode()
    assert make.again(action).status == "OPEN"
    assert ben.post(links.verb("seen", action.pk), {"digest": action.digest}).status_code == 302
    assert post(ben, action, "approve").status_code == 409, "to have seen the page is not to have opened it"
    shown = ben.post(
        links.verb("seen", action.pk), {"digest": action.digest, "everything": "on"}, follow=True
    )
    assert b"data-must-open" not in shown.content
    assert post(ben, action, "approve").status_code == 302
    decision = Decision.everywhere.get(action=action)
    assert decision.payload_opened is True
    assert decision.opened_at == Viewing.everywhere.get(action=action).first_at


def test_b63_the_answer_itself_may_report_that_all_was_opened(house, action):
    """Guards approvals/views/action.py `decide`: the report of the page may still be on its way."""
    assert post(signed_in(house.ben), action, "approve", everything="on").status_code == 302


def test_who_opened_it_is_not_somebody_else(house, action):
    """Guards approvals/viewing.py `unread`: each person for themselves."""
    signed_in(house.mira).post(links.verb("seen", action.pk), {"digest": action.digest, "everything": "on"})
    assert post(signed_in(house.ben), action, "approve").status_code == 409


def test_a_report_about_other_bytes_counts_for_nothing(house, action):
    """Guards approvals/views/handling.py `seen`: the report carries the digest of what was opened."""
    ben = signed_in(house.ben)
    ben.post(links.verb("seen", action.pk), {"digest": "0" * 64, "everything": "on"})
    assert post(ben, action, "approve", everything="on", digest="0" * 64).status_code == 409
    assert not Viewing.everywhere.exists()


def test_rejecting_asks_for_no_reading(house, action):
    assert post(signed_in(house.ben), action, "reject", comment="Too long.").status_code == 302
    assert Decision.everywhere.get(action=action).payload_opened is None


def test_over_rest_the_whole_is_handed_over(house, action):
    """Guards approvals/viewing.py `unread`: nothing is folded there, and nobody claims to know what was read."""
    ben = Rest(house.ben, house.tenant, "read", "decide")
    address = f"actions/{public('pendingaction', action.pk)}/"
    got = ben.get(address)
    assert DEEP in got.json()["shown"]
    sent = ben.post(f"{address}decide/", {"verdict": "approve"}, **{"If-Match": got["ETag"]})
    assert sent.status_code == 200, sent.content
    assert Decision.everywhere.get(action=action).payload_opened is None


def test_what_is_not_folded_needs_no_opening(house):
    action = make.question(house)
    ben = signed_in(house.ben)
    assert 'name="everything" value="on"' in page(ben, links.action(action.pk))
    ben.post(links.verb("seen", action.pk), {"digest": action.digest}, headers={"X-Seen": "1"})
    assert post(ben, action, "approve").status_code == 302
    assert Decision.everywhere.get(action=action).payload_opened is True
