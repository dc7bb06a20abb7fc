"""Several answers at once: N decisions in one transaction, or none."""

from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from approvals.decide_many import Row, decide_many
from approvals.errors import BadAnswer, NotAlike, NotAllowed, RowRefused, Superseded, Unread
from approvals.models import Decision, PendingAction, Viewing
from tests.make import approvals as make
from tools.models import Intent, Risk

pytestmark = pytest.mark.django_db


@pytest.fixture
def house():
    return make.house()


def batch(actions, by, verdict="approve", rows=None, **given):
    rows = rows or [Row(one.pk, one.digest, one.generation) for one in actions]
    said = {"gesture": str(len(actions)), "comment": "Wrong year." if verdict == "reject" else ""}
    proof = {"channel": "web", "authenticated": "password", "fresh": True}
    return decide_many(rows=rows, user_id=by.pk, verdict=verdict, **{**proof, **said, **given})


def statuses(actions):
    return {make.again(one).status for one in actions}


def untouched(actions):
    assert statuses(actions) == {"OPEN"}
    assert not Decision.everywhere.exists()
    assert {one.status for one in Intent.everywhere.all()} == {"PROPOSED"}


def test_three_are_approved_in_one_batch(house):
    actions = [make.question(house) for _ in range(3)]
    decisions = batch(actions, house.ben)
    assert [one.action_id for one in decisions] == [one.pk for one in actions]
    assert [one.digest_seen for one in decisions] == [one.digest for one in actions]
    assert statuses(actions) == {"APPROVED"}
    assert {one.status for one in Intent.everywhere.all()} == {"AUTHORISED"}
    assert len({one.batch for one in decisions}) == 1
    acts = AuditEntry.everywhere.filter(act="action.approved")
    assert {row.payload["batch"] for row in acts} == {decisions[0].batch.hex}
    assert acts.count() == 3


def test_all_are_rejected_with_one_reason(house):
    actions = [make.question(house) for _ in range(2)]
    with pytest.raises(BadAnswer):
        batch(actions, house.ben, "reject", comment="")
    untouched(actions)
    decisions = batch(actions, house.ben, "reject", gesture="")
    assert {one.comment for one in decisions} == {"Wrong year."}
    assert statuses(actions) == {"REJECTED"}


def test_b53_one_row_that_was_overtaken_stops_all_and_is_named(house):
    """Guards approvals/decide_many.py `decide_many`: every row is judged before any is recorded."""
    actions = [make.question(house) for _ in range(3)]
    newer = make.question(house)
    PendingAction.everywhere.filter(pk=newer.pk).update(successor_of=actions[1])
    with pytest.raises(RowRefused) as refused:
        batch(actions, house.ben)
    assert (refused.value.number, refused.value.action.pk) == (2, actions[1].pk)
    assert isinstance(refused.value.cause, Superseded)
    assert not Decision.everywhere.exists()
    assert make.again(actions[0]).status == make.again(actions[2]).status == "OPEN"


def test_a_row_that_was_decided_alone_stops_all(house):
    actions = [make.question(house) for _ in range(3)]
    make.answer(actions[2], house.mira, "reject")
    with pytest.raises(RowRefused) as refused:
        batch(actions, house.ben)
    assert (refused.value.number, refused.value.cause.code) == (3, "already_decided")
    assert statuses(actions[:2]) == {"OPEN"}
    assert Decision.everywhere.count() == 1


def test_four_eyes_hold_for_every_row(house):
    """Guards approvals/decide_many.py `stands`: the rules of an answer given alone."""
    mine = make.question(house, submitter_id=house.ben.pk)
    actions = [make.question(house), mine]
    with pytest.raises(RowRefused) as refused:
        batch(actions, house.ben)
    assert refused.value.number == 2
    assert isinstance(refused.value.cause, NotAllowed)
    untouched(actions)


def test_only_what_is_alike_is_answered_at_once(house):
    other = make.question(house, risk=Risk.LOW)
    with pytest.raises(RowRefused) as refused:
        batch([make.question(house), other], house.ben)
    assert isinstance(refused.value.cause, NotAlike)
    assert "risk class" in str(refused.value)
    with pytest.raises(RowRefused):
        batch([make.question(house), make.takeover(house)], house.ben, "reject")
    assert not Decision.everywhere.exists()


def test_another_digest_than_the_one_seen_stops_all(house):
    actions = [make.question(house) for _ in range(2)]
    rows = [Row(actions[0].pk, actions[0].digest, 1), Row(actions[1].pk, "0" * 64, 1)]
    with pytest.raises(RowRefused) as refused:
        batch(actions, house.ben, rows=rows)
    assert refused.value.cause.code == "stale"
    untouched(actions)


def test_the_count_is_typed_before_high_risk_is_approved(house):
    """Guards approvals/decide_many.py `_check_gesture`."""
    actions = [make.question(house, second_gesture=make.ADDRESS) for _ in range(2)]
    for typed in ("", "3", make.ADDRESS):
        with pytest.raises(BadAnswer):
            batch(actions, house.ben, gesture=typed)
    untouched(actions)
    assert len(batch(actions, house.ben, gesture="2")) == 2


def test_the_sum_is_typed_where_a_rule_names_the_amount(house):
    rule = {"argument": "amount", "total_over": 9_000_000, "per": "day", "then": "approval"}
    bank = make.house(policy={"rules": [rule]})
    amounts = ("12345678901234567.10", "0.05")
    actions = [
        make.question(
            bank,
            about=make.intent(bank, arguments={**make.LETTER, "amount": amount, "currency": "EUR"}),
        )
        for amount in amounts
    ]
    with pytest.raises(BadAnswer):
        batch(actions, bank.ben)
    assert len(batch(actions, bank.ben, gesture="12345678901234567.15")) == 2


def test_a_row_with_a_folded_parameter_that_was_not_opened_stops_all(house):
    """Guards approvals/decide_many.py `stands`: nobody approves what they have not seen whole."""
    long = make.intent(house, arguments={**make.LETTER, "footnote": "x" * 1300})
    actions = [make.question(house), make.question(house, about=long)]
    with pytest.raises(RowRefused) as refused:
        batch(actions, house.ben)
    assert isinstance(refused.value.cause, Unread)
    untouched(actions)
    Viewing.everywhere.create(
        tenant_id=house.tenant.pk, action=actions[1], user=house.ben, payload_at=actions[1].opened_at
    )
    assert len(batch(actions, house.ben)) == 2


def test_a_signature_of_two_leaves_every_row_open_for_the_second(house):
    actions = [make.question(house, policy={**make.POLICY, "quorum": 2}) for _ in range(2)]
    batch(actions, house.ben)
    assert statuses(actions) == {"OPEN"}
    batch(actions, house.mira)
    assert statuses(actions) == {"APPROVED"}


def test_b50_the_same_batch_again_gives_the_first_decisions(house):
    """Guards approvals/decide_many.py `_replayed`: a double click acts once."""
    actions = [make.question(house) for _ in range(2)]
    first = batch(actions, house.ben)
    assert [one.pk for one in batch(actions, house.ben)] == [one.pk for one in first]
    assert Decision.everywhere.count() == 2
    with pytest.raises(RowRefused):
        batch(actions, house.ben, "reject")


def test_a_batch_is_not_empty_and_names_nothing_twice(house):
    action = make.question(house)
    for rows in ([], [action, action]):
        with pytest.raises(BadAnswer):
            batch(rows, house.ben)
    with pytest.raises(BadAnswer):
        batch([action], house.ben, "ask_changes", comment="Shorter.")
    untouched([action])
    assert PendingAction.everywhere.count() == 1
