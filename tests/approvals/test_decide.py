"""One answer at a time: what it writes, what it refuses, and that a refusal changes nothing."""

from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from accounts.scope import tenant_scope
from approvals import errors, shown
from approvals.models import Decision, PendingAction
from outbox.models import Message
from tests.make import approvals as make
from tools.models import Intent

pytestmark = pytest.mark.django_db


@pytest.fixture
def house():
    return make.house()


def topics(action: PendingAction) -> list[str]:
    rows = Message.objects.filter(payload__action_id=action.pk.hex).order_by("id")
    return sorted(rows.values_list("topic", flat=True))


def test_an_approval_makes_a_grant_in_one_transaction(house):
    action = make.question(house)
    decision = make.answer(action, house.ben, "approve")
    action = make.again(action)
    intent = Intent.everywhere.get(pk=action.intent_id)
    assert (action.status, action.decided_at) == ("APPROVED", decision.at)
    assert (intent.status, intent.grant) == ("AUTHORISED", action.pk)
    assert decision.digest_seen == shown.digest_of(action.shown)
    assert topics(action) == ["action.closed", "action.opened", "decision.recorded"]
    entry = AuditEntry.everywhere.get(act="action.approved")
    assert (entry.actor, entry.channel, entry.payload["digest"]) == (house.ben, "web", action.digest)


def test_a_rejection_needs_a_reason_and_leaves_the_intent_unauthorised(house):
    action = make.question(house)
    with pytest.raises(errors.BadAnswer) as refused:
        make.answer(action, house.ben, "reject", comment="   ")
    assert refused.value.field == "comment"
    make.answer(action, house.ben, "reject")
    assert make.again(action).status == "REJECTED"
    assert Intent.everywhere.get(pk=action.intent_id).status == "PROPOSED"


def test_the_second_gesture_is_checked_on_the_server(house):
    action = make.question(house, second_gesture=make.ADDRESS)
    for typed in ("", "legal@halden-freight.example.evil", "LEGAL@halden-freight.example"):
        with pytest.raises(errors.BadAnswer) as refused:
            make.answer(action, house.ben, "approve", gesture=typed)
        assert refused.value.field == "gesture"
    assert make.answer(action, house.ben, "approve", gesture=f" {make.ADDRESS} ").verdict == "approve"


def test_two_people_must_agree_and_one_alone_does_nothing(house):
    action = make.question(house, policy={**make.POLICY, "quorum": 2})
    make.answer(action, house.ben, "approve")
    assert make.again(action).status == "OPEN"
    assert Intent.everywhere.get(pk=action.intent_id).status == "PROPOSED"
    assert "decision.recorded" not in topics(action)
    make.answer(action, house.mira, "approve")
    assert make.again(action).status == "APPROVED"


def test_a_signer_who_lost_the_role_does_not_count(house):
    action = make.question(house, policy={**make.POLICY, "quorum": 2})
    make.answer(action, house.ben, "approve")
    make.roles(house, house.ben, "submitter")
    make.answer(action, house.mira, "approve")
    assert make.again(action).status == "OPEN"


def test_one_no_ends_it_whatever_the_quorum(house):
    action = make.question(house, policy={**make.POLICY, "quorum": 2})
    make.answer(action, house.ben, "approve")
    make.answer(action, house.mira, "reject")
    assert make.again(action).status == "REJECTED"


def test_the_same_answer_again_gives_the_first_decision(house):
    action = make.question(house)
    first = make.answer(action, house.ben, "approve")
    assert make.answer(action, house.ben, "approve").pk == first.pk
    assert Decision.everywhere.filter(action=action).count() == 1
    assert topics(action).count("decision.recorded") == 1


def test_b17_a_second_answer_is_refused_with_the_first_decision(house):
    """Guards approvals/decide.py, ``replay`` and ``check_standing``: without them an old tab rejects what was approved."""
    action = make.question(house)
    first = make.answer(action, house.ben, "approve")
    for person in (house.ben, house.mira):
        with pytest.raises(errors.AlreadyDecided) as refused:
            make.answer(action, person, "reject")
        assert refused.value.first == first
    assert make.again(action).status == "APPROVED"
    assert Decision.everywhere.filter(action=action).count() == 1


def test_what_was_not_shown_cannot_be_decided(house):
    """Guards approvals/decide.py, the comparison of Sight."""
    action = make.question(house)
    for seen in ({"digest": "0" * 64}, {"generation": 2}, {"digest": ""}):
        with pytest.raises(errors.Stale):
            make.answer(action, house.ben, "approve", **seen)
    assert make.again(action).status == "OPEN"


def test_bytes_changed_behind_the_digest_cannot_be_decided(house):
    """Guards approvals/decide.py: the digest is computed from the bytes again, not taken from the column."""
    action = make.question(house)
    forged = bytes(action.shown).replace(b"halden", b"holden")
    PendingAction.everywhere.filter(pk=action.pk).update(shown=forged)
    with pytest.raises(errors.Stale):
        make.answer(action, house.ben, "approve")


@pytest.mark.parametrize("verdict", ["", "yes", "APPROVE", "happened", "expire", "continue"])
def test_a_malformed_answer_denies(house, verdict):
    action = make.question(house)
    with pytest.raises(errors.BadAnswer):
        make.answer(action, house.ben, verdict)
    assert make.again(action).status == "OPEN"
    assert not Decision.everywhere.filter(action=action).exists()


@pytest.mark.parametrize("text", ["nul \x00 here", "half \ud800 sign"])
@pytest.mark.parametrize("field", ["comment", "reference", "gesture"])
def test_b79_signs_that_cannot_be_stored_are_refused_by_field(house, field, text):
    """Guards approvals/answers.py, ``read``: without it the database raises in the middle of a decision."""
    action = make.question(house)
    with pytest.raises(errors.BadAnswer) as refused:
        make.answer(action, house.ben, "approve", **{field: text})
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("given", "kept"),
    [("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2::/64", "2001:db8:1:2::"), ("unknown", None), ("", None)],
)
def test_the_record_says_where_the_answer_came_from(house, given, kept):
    assert make.answer(make.question(house), house.ben, "approve", address=given).address == kept


def test_a_successor_asks_about_what_would_happen_now(house):
    """Guards approvals/reopen.py: sentence, target and second gesture are those of now, and the page shows the difference."""
    from approvals import grants, present
    from approvals.reopen import reopen
    from tools import previews

    old = make.question(house, second_gesture=make.ADDRESS)
    make.answer(old, house.ben, "approve")
    grants.void(action_id=old.pk, reason="drift")
    letter = {**make.LETTER, "to": "other@halden-freight.example"}
    Intent.everywhere.filter(pk=old.intent_id).update(arguments=letter, target=letter["to"])
    intent = Intent.everywhere.get(pk=old.intent_id)
    preview = previews.render(contract=house.contract, arguments=letter, tenant=house.tenant)
    new = reopen(
        action_id=old.pk, intent=intent, contract=house.contract, epoch=1, preview=preview, policy=make.POLICY
    )
    assert (new.target, new.second_gesture) == (letter["to"], letter["to"])
    assert letter["to"] in new.sentence
    with tenant_scope(house.tenant.pk):
        found = present.sheet(new, house.ben.pk).difference
    assert found is not None
    assert {row.name: (row.then, row.now) for row in found.rows}["to"] == (make.ADDRESS, letter["to"])


def test_a_question_that_has_a_successor_names_it(house):
    """Fault B53. Guards approvals/decide.py, the look for a successor."""
    from approvals import grants
    from approvals.reopen import reopen

    old = make.question(house)
    make.answer(old, house.ben, "approve")
    grants.void(action_id=old.pk, reason="drift")
    intent = Intent.everywhere.get(pk=old.intent_id)
    new = reopen(
        action_id=old.pk,
        intent=intent,
        contract=house.contract,
        epoch=1,
        preview=old.preview,
        policy=make.POLICY,
    )
    assert (new.generation, new.status) == (2, "OPEN")
    with pytest.raises(errors.Superseded) as refused:
        make.answer(old, house.mira, "approve")
    assert refused.value.by == new
    with pytest.raises(errors.Stale):
        make.answer(new, house.mira, "approve", digest=old.digest)
    assert Intent.everywhere.get(pk=old.intent_id).status == "PROPOSED"
