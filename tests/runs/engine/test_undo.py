"""Undo: what a run did is taken back when it fails or is cancelled, the last effect first, each as an effect of its own."""

from __future__ import annotations

from itertools import product

import pytest

from approvals import shown
from approvals.models import PendingAction
from runs.engine import compensate
from runs.engine.cancel import cancel
from runs.engine.orphans import sweep_runs
from runs.engine.reclaim import release
from runs.engine.resume import resume_decided
from runs.engine.types import Claimed, Go, Outcome, Plan, Stop
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.runs.engine.bookings import Bookings, call
from tools import workers
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)


def test_b49_a_run_that_fails_is_undone_in_reverse_each_under_a_key_of_its_own():
    """Guards runs/engine/compensate.py: the order, the intents, and that the run ends only afterwards."""
    story = Bookings([call("hall")], [call("car")], [call("table")]).go()
    assert story.happened == ["hall", "car", "table", "undo/table", "undo/car", "undo/hall"]
    assert story.run.status == "FAILED"
    assert story.failure["code"] == "no_use"
    assert story.failure["undo"] == {"undone": 3, "left": 0, "irreversible": 0, "unknown": 0}
    undos = Intent.everywhere.filter(run_id=story.run_id, compensates__isnull=False)
    assert len({undo.key for undo in undos} | {undo.compensates.key for undo in undos}) == 6
    assert {undo.compensates.status for undo in undos} == {"COMPENSATED"}
    assert all(undo.arguments["reference"] == "far" for undo in undos)
    assert story.events()[-2:] == ["run.compensated", "run.failed"]
    assert PendingAction.everywhere.filter(run_id=story.run_id).count() == 0


def test_b49_one_undo_is_under_way_at_a_time_and_the_run_is_not_over_before_the_last():
    """Guards runs/engine/compensate.py go_on: the next is planned when the one before has ended."""
    story = Bookings([call("hall"), call("car")])
    first = story.until_undo()
    assert story.run.status == "COMPENSATING"
    assert hands.take(story.me) == []
    live = Step.everywhere.filter(run_id=story.run_id, kind="undo")
    assert [step.key for step in live] == [first.key]
    hands.put(story.me, story.act(first))
    assert story.run.status == "COMPENSATING"
    story.go()
    assert story.run.status == "FAILED"


def test_a_run_without_effects_fails_at_once():
    story = Bookings([call("look", "drill.noop")]).go()
    assert story.run.status == "FAILED"
    assert "run.compensating" not in story.events()


def test_what_cannot_be_undone_stays_and_the_rest_is_undone():
    story = Bookings([call("hall")], [call("letter", "drill.effect_final")]).go()
    story.answer("approve", "approve")
    story.go()
    assert story.undos() == ["undo/hall"]
    assert story.fates() == {"hall": "undone", "letter": "irreversible"}
    assert story.failure["undo"] == {"undone": 1, "left": 0, "irreversible": 1, "unknown": 0}


def test_a_cancelled_run_is_undone_and_ends_cancelled():
    story = Bookings(
        [call("hall")], [call("car")], [{"do": "wait", "key": "w", "seconds": 900}], fails=False
    ).go()
    cancel(run_id=story.run_id, user_id=story.house.ada.pk)
    assert story.run.status == "COMPENSATING"
    cancel(run_id=story.run_id, user_id=story.house.ada.pk)
    story.go()
    assert story.undos() == ["undo/car", "undo/hall"]
    assert (story.run.status, story.run.failure) == ("CANCELLED", None)
    assert story.run.result == {"undo": {"undone": 2, "left": 0, "irreversible": 0, "unknown": 0}}
    assert story.events().count("run.cancel_requested") == 1


def test_a_cancel_while_a_failed_run_is_undone_stops_nothing_and_ends_it_cancelled():
    story = Bookings([call("hall")], [call("car")])
    first = story.until_undo()
    cancel(run_id=story.run_id, user_id=story.house.ada.pk, reason="enough")
    assert story.run.status == "COMPENSATING"
    hands.put(story.me, story.act(first))
    story.go()
    assert story.undos() == ["undo/car", "undo/hall"]
    assert (story.run.status, story.run.cancel_reason) == ("CANCELLED", "enough")


def lost(story: Bookings, claimed: Claimed, *, really: bool) -> None:
    """Sent, and its worker died before it could tell."""
    go = hands.asked(story.me, claimed)
    assert isinstance(go, Go)
    if really:
        story.happened.append(claimed.key)
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))


@pytest.mark.parametrize("verdict", ["happened", "not_happened", "nobody_knows"])
def test_b49_what_is_unknown_is_settled_first_and_undone_only_if_it_happened(verdict):
    """Guards runs/engine/compensate.py _open and runs/engine/status.py: nothing is undone while an effect is UNKNOWN."""
    story = Bookings([call("hall")], [call("car")], fails=False)
    while (claimed := hands.take(story.me)[0]).key != "car":
        hands.put(story.me, story.act(claimed))
    lost(story, claimed, really=verdict == "happened")
    cancel(run_id=story.run_id, user_id=story.house.ada.pk)
    story.go()
    assert (story.run.status, story.undos()) == ("CANCEL_REQUESTED", [])
    assert "Book car" in story.run.waiting_on
    workers.gone(worker_id=story.me.pk, how="lock")
    story.answer(verdict, "settle", reference="the far side's page", comment="I looked")
    story.house.me = hands.worker()
    story.go()
    after = {
        "happened": (["undo/car", "undo/hall"], "undone"),
        "not_happened": (["undo/hall"], None),
        "nobody_knows": (["undo/hall"], "nobody_knows"),
    }[verdict]
    assert story.run.status == "CANCELLED"
    assert (story.undos(), story.fates().get("car")) == after
    assert story.fates()["hall"] == "undone"


def test_b49_an_undo_that_may_have_happened_is_not_sent_again_and_holds_what_came_before():
    """Guards runs/engine/record.py: an undo has an UNKNOWN of its own; nothing older is undone meanwhile."""
    story = Bookings([call("hall")], [call("car")])
    lost(story, story.until_undo(), really=True)
    story.go()
    assert story.run.status == "COMPENSATING"
    assert story.undos() == ["undo/car"]
    assert story.fates() == {"hall": "open", "car": "waits"}
    assert "Undo: Book car" in story.run.waiting_on
    story.answer("happened", "settle", reference="seen")
    story.go()
    assert story.undos() == ["undo/car", "undo/hall"]
    assert story.fates() == {"hall": "undone", "car": "undone"}
    assert story.run.status == "FAILED"


def test_an_undo_of_which_nobody_can_know_is_told_and_the_rest_goes_on():
    story = Bookings([call("hall")], [call("car")])
    lost(story, story.until_undo(), really=False)
    story.answer("nobody_knows", "settle", comment="no trace")
    story.go()
    assert story.fates() == {"hall": "undone", "car": "undo_unknown"}
    assert story.failure["undo"] == {"undone": 1, "left": 0, "irreversible": 0, "unknown": 1}


def test_b49_a_node_that_dies_before_it_sends_an_undo_costs_nothing():
    """Guards runs/engine/reclaim.py for undo steps: they go back and are claimed again while the run is COMPENSATING."""
    story = Bookings([call("hall")], [call("car")])
    story.until_undo()
    before = story.me
    workers.gone(worker_id=before.pk, how="lock")
    release(worker_id=before.pk)
    story.house.me = hands.worker()
    story.go()
    assert story.undos() == ["undo/car", "undo/hall"]
    assert story.run.status == "FAILED"


def failed(story: Bookings, claimed: Claimed, code: str = "refused") -> None:
    go = hands.asked(story.me, claimed)
    assert isinstance(go, Go)
    hands.put(story.me, Outcome(claimed, "failed", None, code, "It said no.", dispatch_id=go.dispatch_id))


@pytest.mark.parametrize("answer", ["continue", "fail"])
def test_b49_an_undo_that_fails_for_good_is_put_before_a_person_and_never_swallowed(answer):
    """Guards runs/engine/undone.py stuck: the run stays COMPENSATING and a person decides."""
    story = Bookings([call("hall")], [call("car")])
    failed(story, story.until_undo())
    assert hands.take(story.me) == []
    assert story.run.status == "COMPENSATING"
    assert "Undo: Book car" in story.run.waiting_on
    story.answer(answer, "take_over", comment="by hand")
    story.go()
    again = answer == "continue"
    assert story.undos() == (["undo/car", "undo/hall"] if again else ["undo/hall"])
    assert story.fates() == {"hall": "undone", "car": "undone" if again else "left"}
    assert story.run.status == "FAILED"
    keys = Intent.everywhere.filter(run_id=story.run_id, compensates__isnull=False).values_list(
        "key", flat=True
    )
    assert len(set(keys)) == 2
    assert not PendingAction.everywhere.filter(run_id=story.run_id, status="OPEN").exists()


def test_b49_every_way_in_which_two_undos_can_end_leaves_a_truthful_summary():
    """Guards runs/engine/compensate.py summary, and the order whatever becomes of each."""
    told = {"done": "undone", "left": "left", "unknown": "undo_unknown"}
    for first, second in product(told, repeat=2):
        story = Bookings([call("hall")], [call("car")])
        for key, how in (("undo/car", first), ("undo/hall", second)):
            claimed = story.until_undo()
            assert claimed.key == key
            if how == "done":
                hands.put(story.me, story.act(claimed))
            elif how == "left":
                failed(story, claimed)
                story.answer("fail", "take_over", comment="leave it")
            else:
                lost(story, claimed, really=False)
                story.answer("nobody_knows", "settle", comment="no trace")
        assert story.fates() == {"car": told[first], "hall": told[second]}
        assert story.run.status == "FAILED"
        counts = story.failure["undo"]
        assert counts["undone"] == [first, second].count("done")
        assert counts["left"] == [first, second].count("left")
        assert counts["unknown"] == [first, second].count("unknown")


def test_the_contract_of_the_undo_is_the_one_that_was_in_force_when_the_effect_was_sent():
    story = Bookings([call("hall")])
    story.until_undo()
    effect = Intent.everywhere.get(run_id=story.run_id, compensates__isnull=True)
    undo = Intent.everywhere.get(compensates=effect)
    assert effect.compensation_snapshot["contract"] == undo.contract_id.hex
    assert effect.compensation_snapshot["tool"] == "drill.undo"


def test_what_the_undo_needs_and_is_not_known_is_told_to_a_person():
    story = Bookings([call("hall")], [call("car")])
    while not Intent.everywhere.filter(run_id=story.run_id, status="CONFIRMED").exists():
        hands.put(story.me, *[story.act(one) for one in hands.take(story.me)])
    hall = Intent.everywhere.get(run_id=story.run_id, status="CONFIRMED")
    kept = {**hall.compensation_snapshot, "arguments": {"id": {"from": "answer", "pointer": "/id"}}}
    Intent.everywhere.filter(pk=hall.pk).update(compensation_snapshot=kept)
    story.go()
    assert story.undos() == ["undo/car"]
    assert story.run.status == "COMPENSATING"
    asked = PendingAction.everywhere.get(run_id=story.run_id, kind="take_over", status="OPEN")
    assert "answer /id" in bytes(asked.shown).decode()
    facts = shown.read(asked.shown)["facts"]
    assert facts["parameters"] == hall.arguments
    assert facts["failed"]["reference"] == hall.reference != ""
    story.answer("fail", "take_over", comment="by hand")
    assert story.run.status == "FAILED"
    assert story.fates() == {"hall": "left", "car": "undone"}


def test_an_orphaned_run_that_was_being_undone_goes_on():
    """Nothing of it is live and nothing was planned: the sweep plans the next undo."""
    story = Bookings([call("hall")])
    story.until_undo()
    Step.everywhere.filter(run_id=story.run_id, kind="undo").delete()
    Intent.everywhere.filter(run_id=story.run_id, compensates__isnull=False).delete()
    Run.everywhere.filter(pk=story.run_id).update(last_event_at="2020-01-01T00:00:00Z")
    assert sweep_runs() == 1
    story.go()
    assert story.undos() == ["undo/hall"]
    assert story.run.status == "FAILED"


def test_l21_an_agent_cannot_give_a_key_of_the_engine():
    story = Bookings([{**call("x", "drill.effect"), "key": "undo/hall"}], fails=False).go()
    assert story.happened == []
    asked = PendingAction.everywhere.get(run_id=story.run_id, kind="take_over")
    assert story.run.status == "WAITING_APPROVAL"
    assert asked.status == "OPEN"


def test_l21_only_the_declared_tool_undoes_and_no_agent_is_asked():
    """The agent plans nothing while its run is undone, and the tool is that of the contract."""
    story = Bookings([call("hall")])
    claimed = story.until_undo()
    assert claimed.tool == "drill.undo"
    outcome = story.act(claimed)
    outcome.plan = Plan(claimed.version, [{"do": "call", "key": "more", "tool": "drill.effect"}])
    hands.put(story.me, outcome)
    assert story.run.status == "FAILED"
    assert not Step.everywhere.filter(run_id=story.run_id, key="more").exists()


def test_a_long_key_has_an_undo_key_that_fits():
    long, other = "k" * 200, "k" * 199 + "j"
    assert len(compensate.undo_key(long)) <= 200
    assert compensate.undo_key(long) != compensate.undo_key(other)
    assert compensate.undo_key("hall") == "undo/hall"


def test_begin_refuses_an_undo_while_a_person_is_asked():
    story = Bookings([call("hall")])
    claimed = story.until_undo()
    Run.everywhere.filter(pk=story.run_id).update(takeover=claimed.step_id)
    said = hands.asked(story.me, claimed)
    assert isinstance(said, Stop)
    resume_decided()
    assert story.undos() == []
