"""The verbs of intents on real PostgreSQL: who may say what, and who wins."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.utils import Error

from accounts import arrows
from accounts.canonical import check_storable
from accounts.ids import new_id
from tests.tools import make
from tools import intents
from tools.errors import Refused
from tools.models import Intent

pytestmark = pytest.mark.django_db


@pytest.fixture
def contract():
    return make.contract(make.tenant())


def test_the_way_of_an_effect_that_succeeds(contract):
    intent: Any = make.intent(contract, authorised=False)
    assert intent.status == "PROPOSED"
    grant = new_id()
    intent = intents.authorise(intent=intent, grant=grant)
    assert (intent.status, intent.grant) == ("AUTHORISED", grant)
    dispatch, sender = new_id(), make.sender()
    intent = intents.dispatch(
        intent=intent, sender_id=sender, dispatch_id=dispatch, fence=make.fence(), deadline_seconds=30
    )
    assert (intent.status, intent.dispatch_id, intent.sender_id) == ("DISPATCHED", dispatch, sender)
    assert intent.dispatches == 1
    assert (intent.deadline - intent.dispatched_at).total_seconds() == pytest.approx(30, abs=0.1)
    intent = intents.confirm(
        intent_id=intent.pk, answer={"ok": True}, reference="<m@x>", evidence={"what": "sent"}
    )
    assert (intent.status, intent.answer, intent.reference) == ("CONFIRMED", {"ok": True}, "<m@x>")
    assert intent.ended_at is not None
    assert intent.evidence[0]["what"] == "sent"
    assert intent.evidence[0]["at"]


def test_the_first_request_under_a_key_wins_and_drift_is_kept(contract):
    first = make.intent(contract, key="k", arguments={"to": "a@example.org"})
    again = make.intent(contract, key="k", arguments={"to": "a@example.org"})
    assert (again.pk, again.drift) == (first.pk, [])
    other = make.intent(contract, key="k", arguments={"to": "b@example.org"})
    assert other.pk == first.pk
    assert other.arguments == {"to": "a@example.org"}
    assert [entry["arguments"] for entry in other.drift] == [{"to": "b@example.org"}]
    assert Intent.everywhere.filter(key="k").count() == 1


def test_equal_arguments_under_two_keys_are_two_effects(contract):
    assert make.intent(contract, key="k1").pk != make.intent(contract, key="k2").pk


@pytest.mark.parametrize("change", ["arguments", "target", "contract"])
def test_b52_another_request_under_the_same_key_is_drift_and_not_approved(contract, change):
    """Guards ``tools/intents.py`` (``propose``): what a person approved is the first request; a changed one is recorded
    beside it and never takes its place."""
    asked: dict[str, Any] = {"key": "k", "arguments": {"to": "a@example.org"}, "target": "a@example.org"}
    first = make.intent(contract, **asked)
    under = contract
    if change == "arguments":
        asked["arguments"] = {"to": "a@example.orh"}
    elif change == "target":
        asked["target"] = "a@example.orh"
    else:
        under = make.contract(contract.tenant, timeout_seconds=61)
    again = make.intent(under, **asked)
    assert (again.pk, again.request_digest, again.contract_id) == (
        first.pk,
        first.request_digest,
        contract.pk,
    )
    assert [entry["request_digest"] != first.request_digest for entry in again.drift] == [True]


def test_the_digest_does_not_depend_on_the_order_of_names(contract):
    one = make.intent(contract, key="k", arguments={"a": 1, "b": 2.0})
    two = make.intent(contract, key="k", arguments={"b": 2, "a": 1})
    assert (two.pk, two.drift) == (one.pk, [])


def test_a_contract_of_another_tenant_or_tool_is_refused(contract):
    with pytest.raises(ValueError, match="not one of"):
        intents.propose(
            tenant_id=make.tenant("other").pk, run_id=new_id(), step_id=new_id(), key="k", tool="mail.send",
            contract=contract, arguments={}, target="", authorised=True, epoch=0,
        )  # fmt: skip


VERBS = {
    "authorise": lambda row: intents.authorise(intent=row, grant=None),
    "revoke": lambda row: intents.revoke(intent_id=row.pk),
    "dispatch": lambda row: intents.dispatch(
        intent=row, sender_id=make.sender(), dispatch_id=new_id(), fence=10**9, deadline_seconds=9
    ),
    "send_again": lambda row: intents.send_again(
        intent=row, sender_id=make.sender(), dispatch_id=new_id(), fence=10**9, deadline_seconds=9
    ),
    "confirm": lambda row: intents.confirm(intent_id=row.pk, answer={"n": 1}, reference="r"),
    "refuse": lambda row: intents.refuse(intent_id=row.pk, dispatch_id=row.dispatch_id, evidence=None),
    "lose": lambda row: intents.lose(intent_id=row.pk, dispatch_id=row.dispatch_id, evidence=None),
    "abandon": lambda row: intents.abandon(intent_id=row.pk, evidence=None),
    "allow_again": lambda row: intents.allow_again(intent_id=row.pk),
    "ask_again": lambda row: intents.ask_again(intent_id=row.pk),
    "doubt": lambda row: intents.doubt(intent_id=row.pk, sender_id=make.sender(), evidence=None),
    "undo": lambda row: intents.undo(intent_id=row.pk),
    "void": lambda row: intents.void(intent_id=row.pk),
}


@pytest.mark.parametrize("status", Intent.Status.values)
@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_from_every_state(contract, verb, status):
    """Either the arrow exists and the row moves to its target, or the verb refuses and the row is as before. A repeated
    confirmation gives the first answer; one of what was never sent is refused."""
    row = make.in_state(contract, status)
    before = row.answer
    legal = status in arrows.sources(Intent, verb) and (verb != "confirm" or row.dispatch_id is not None)
    if legal:
        moved = VERBS[verb](row)
        assert moved.status == arrows.target(Intent, verb)
    elif verb == "confirm" and status in ("CONFIRMED", "COMPENSATED"):
        assert VERBS[verb](row).answer == before
    else:
        with pytest.raises(Refused):
            VERBS[verb](row)
    row.refresh_from_db()
    assert row.status == (arrows.target(Intent, verb) if legal else status)


def test_there_is_an_arrow_for_every_verb_and_a_verb_for_every_arrow():
    assert {name for name, _ in arrows.arrows(Intent)} == set(VERBS)


def test_confirmed_is_taken_from_a_sender_of_before(contract):
    """The truth of the world: the lease is lost, the outcome was unknown, and the old sender says that it happened."""
    intent = make.dispatched(contract)
    intents.lose(intent_id=intent.pk, dispatch_id=None, evidence={"what": "lease expired"})
    intent = intents.confirm(intent_id=intent.pk, answer={"line": 1}, reference="x")
    assert intent.status == "CONFIRMED"


def test_a_late_confirmation_stops_the_next_dispatch(contract):
    """Allowed again, not sent again yet, and then the first sender's word arrives: it is done, nothing may be sent."""
    intent = make.dispatched(contract)
    intents.refuse(intent_id=intent.pk, dispatch_id=intent.dispatch_id, evidence=None)
    intents.allow_again(intent_id=intent.pk)
    assert intents.confirm(intent_id=intent.pk, answer={}, reference="x").status == "CONFIRMED"
    with pytest.raises(Refused):
        VERBS["dispatch"](intent)


def test_nothing_that_was_never_sent_can_be_confirmed(contract):
    with pytest.raises(Refused):
        intents.confirm(intent_id=make.intent(contract).pk, answer={}, reference="x")


def test_a_second_confirmation_keeps_the_first_answer_and_is_evidence(contract):
    intent = make.dispatched(contract)
    intents.confirm(intent_id=intent.pk, answer={"line": 1}, reference="first")
    again = intents.confirm(intent_id=intent.pk, answer={"line": 2}, reference="second")
    assert (again.answer, again.reference) == ({"line": 1}, "first")
    assert [item["reference"] for item in again.evidence if item["what"] == "confirmed_again"] == ["second"]


@pytest.mark.parametrize("verb", ["refuse", "lose"])
def test_only_the_current_dispatch_may_say_no_or_unknown(contract, verb):
    intent = make.dispatched(contract)
    say = getattr(intents, verb)
    with pytest.raises(Refused, match="another dispatch"):
        say(intent_id=intent.pk, dispatch_id=new_id(), evidence=None)
    intent.refresh_from_db()
    assert intent.status == "DISPATCHED"


def test_an_older_fence_never_sends_after_a_newer_one(contract):
    intent = make.dispatched(contract)
    intents.refuse(intent_id=intent.pk, dispatch_id=intent.dispatch_id, evidence=None)
    intents.allow_again(intent_id=intent.pk)
    for fence in (intent.fence, intent.fence - 1):
        with pytest.raises(Refused, match="newer fence"):
            intents.dispatch(
                intent=intent, sender_id=make.sender(), dispatch_id=new_id(), fence=fence, deadline_seconds=9
            )
    again = intents.dispatch(
        intent=intent, sender_id=make.sender(), dispatch_id=new_id(), fence=10**9, deadline_seconds=9
    )
    assert again.dispatches == 2


def test_a_sender_may_add_that_it_has_stopped(contract):
    intent = make.dispatched(contract)
    lost = intents.lose(intent_id=intent.pk, dispatch_id=None, evidence={"what": "lease expired"})
    assert lost.sender_done_at is None
    told = intents.lose(
        intent_id=intent.pk, dispatch_id=intent.dispatch_id, evidence={"what": "time-out"}, sender_done=True
    )
    assert told.sender_done_at is not None
    assert [item["what"] for item in told.evidence] == ["lease expired", "time-out"]
    with pytest.raises(Refused):
        intents.lose(intent_id=intent.pk, dispatch_id=new_id(), evidence=None, sender_done=True)


def test_a_new_dispatch_forgets_what_was_said_of_the_old_one(contract):
    intent = make.dispatched(contract)
    intents.lose(intent_id=intent.pk, dispatch_id=intent.dispatch_id, evidence=None, sender_done=True)
    intents.note_settled(intent_id=intent.pk, settled="did_not_happen", evidence={"by": "Ben"})
    intents.refuse(
        intent_id=intent.pk, dispatch_id=intent.dispatch_id, evidence=None, settled="did_not_happen"
    )
    intents.allow_again(intent_id=intent.pk)
    again = VERBS["dispatch"](intent)
    assert (again.sender_done_at, again.settled, again.unknown_since) == (None, "", None)


def test_a_settlement_that_cannot_take_effect_yet_keeps_it_unknown(contract):
    intent = make.in_state(contract, "UNKNOWN")
    noted = intents.note_settled(intent_id=intent.pk, settled="did_not_happen", evidence={"by": "Ben"})
    assert (noted.status, noted.settled) == ("UNKNOWN", "did_not_happen")
    with pytest.raises(Refused):
        intents.note_settled(intent_id=make.dispatched(contract).pk, settled="x", evidence=None)


def test_b78_b79_a_success_whose_answer_cannot_be_stored_is_recorded(contract):
    """Guards ``tools/intents.py`` (``confirm``): NUL, half characters, numbers that are none and depth are escaped and
    marked; the effect is CONFIRMED, never an error that would be tried again."""
    intent = make.dispatched(contract)
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    answer = {"text": "a\x00b", "half": "\ud800", "nan": float("nan"), "deep": deep, "\x00": object()}
    done: Any = intents.confirm(
        intent_id=intent.pk,
        answer=answer,
        reference="ref\x00\udcff" + "x" * 600,
        evidence={"said": "\ud800\x00"},
    )
    assert done.status == "CONFIRMED"
    assert done.answer["text"] == "a\\u0000b"
    assert done.answer["half"] == "\\ud800"
    assert done.answer["nan"] == "NaN"
    assert len(done.reference) == 500
    assert any(item.get("what") == "answer_escaped" for item in done.evidence)
    check_storable(done.answer, max_depth=64)


def test_a_plain_answer_is_not_marked(contract):
    done = intents.confirm(intent_id=make.dispatched(contract).pk, answer={"n": 1}, reference="r")
    assert done.evidence == []


def test_evidence_can_be_added_in_a_final_state_and_changes_nothing_else(contract):
    row = make.in_state(contract, "ABANDONED")
    intents.add_evidence(intent_id=row.pk, evidence={"what": "a letter from the bank"})
    row.refresh_from_db()
    assert (row.status, row.evidence[-1]["what"]) == ("ABANDONED", "a letter from the bank")
    with pytest.raises(Refused, match="missing"):
        intents.add_evidence(intent_id=new_id(), evidence={})


def test_a_confirmation_of_what_was_abandoned_is_refused_and_kept_as_evidence(contract):
    row = make.in_state(contract, "ABANDONED")
    with pytest.raises(Refused) as refused:
        intents.confirm(intent_id=row.pk, answer={"line": 9}, reference="late")
    assert refused.value.found == "ABANDONED"
    row.refresh_from_db()
    assert row.evidence[-1]["reference"] == "late"


def test_the_database_keeps_final_states_and_their_proof(contract):
    row = make.in_state(contract, "VOIDED")
    with pytest.raises(Error, match="final"), transaction.atomic():
        Intent.everywhere.filter(pk=row.pk).update(status="AUTHORISED")
    with pytest.raises(IntegrityError, match="intent_sent_has_a_dispatch"), transaction.atomic():
        Intent.everywhere.filter(pk=make.intent(contract).pk).update(status="CONFIRMED")


def test_the_snapshot_for_an_undo_is_kept_once_and_before_the_send(contract):
    intent = make.intent(contract)
    intents.snapshot(intent=intent, compensation={"tool": "drill.undo", "n": 1})
    intents.snapshot(intent=intent, compensation={"tool": "drill.undo", "n": 2})
    intent.refresh_from_db()
    assert intent.compensation_snapshot == {"tool": "drill.undo", "n": 1}
