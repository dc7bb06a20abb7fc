"""What two people had to allow, two people settle: with the same answer, and nobody's answer is lost."""

from __future__ import annotations

import pytest

from accounts.models import Role
from approvals import links
from approvals.models import Decision, PendingAction
from tests.approvals.test_pages import page, post, signed_in
from tests.make import approvals as make
from tests.tools import make as bench
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house():
    return make.house()


@pytest.fixture
def asked(house) -> PendingAction:
    return make.settle(house, quorum=2)


def test_it_takes_as_many_as_the_approval_took(house, asked):
    """Guards approvals/open.py `_as_many`."""
    assert asked.policy["quorum"] == 2
    assert make.settle(house).policy["quorum"] == 1


def test_one_answer_settles_nothing_and_the_second_equal_one_does(house, asked):
    """Guards approvals/decide.py `_apply`: several people settle only by the same answer."""
    ben, mira = signed_in(house.ben), signed_in(house.mira)
    told = post(ben, asked, "happened", reference="MSG-1", comment="Seen there")
    assert told.status_code == 302
    assert make.again(asked).status == "OPEN"
    assert make.about(asked).status == Intent.Status.UNKNOWN
    html = page(mira, links.action(asked.pk))
    for words in ("Answers so far", "Ben Okafor", "MSG-1 · Seen there", "have to give the same answer"):
        assert words in html
    post(mira, asked, "happened", reference="MSG-1", comment="I asked them too")
    assert make.again(asked).status == "SETTLED"
    assert make.about(asked).status == Intent.Status.CONFIRMED


def test_two_different_answers_wait_for_a_third(house, asked):
    """Guards approvals/decide.py `_apply`: an answer counts with its equals alone."""
    third = bench.person(house.tenant, Role.APPROVER, name="Nora Third")
    post(signed_in(house.ben), asked, "happened", reference="MSG-1")
    post(signed_in(house.mira), asked, "nobody_knows", comment="Their mailbox is gone")
    assert make.again(asked).status == "OPEN"
    html = page(signed_in(third), links.action(asked.pk))
    assert "It happened" in html
    assert "Their mailbox is gone" in html
    post(signed_in(third), asked, "nobody_knows", comment="Asked, nobody can look")
    assert make.again(asked).status == "SETTLED"
    assert make.about(asked).status == Intent.Status.ABANDONED
    assert Decision.everywhere.filter(action=asked).count() == 3
