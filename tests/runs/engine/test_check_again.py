"""A person has the far side asked now."""

from __future__ import annotations

import pytest

from runs.engine.heard import check_again
from tests.runs.engine.doubtful import ASKED, Doubtful

pytestmark = pytest.mark.django_db(transaction=True)

YES, NO = {"state": "booked", "id": "B-7"}, {"state": "none"}


def test_check_again_asks_at_once_and_one_question_is_on_its_way_at_a_time():
    story = Doubtful(**ASKED)
    story.lost()
    story.answer(NO)
    (action,) = story.settles
    assert check_again(action_id=action.pk, user_id=story.approver.pk)
    assert check_again(action_id=action.pk, user_id=story.approver.pk)
    assert len(story.queries) == 2
    story.answer(YES)
    assert story.intent.status == "CONFIRMED"
    assert [one.status for one in story.settles] == ["WITHDRAWN"]
    assert check_again(action_id=action.pk, user_id=story.approver.pk) is False
    evidence = [item for item in story.intent.evidence if item.get("kind") == "query"]
    assert [item["said"] for item in evidence] == ["no", "yes"]
    assert all(item["asked_at"] for item in evidence)


def test_check_again_says_when_nothing_can_be_asked():
    story = Doubtful()
    story.lost()
    assert check_again(action_id=story.settles[0].pk, user_id=story.approver.pk) is False
    assert story.queries == []
