"""A database that was set back: nothing is claimed, and what may have happened in the lost time is asked, never repeated."""

from __future__ import annotations

import dataclasses
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts import audit, origin
from accounts.models import AuditEntry, DatabaseOrigin, Role
from accounts.origin import SET_BACK, Seen, Witness
from runs import timeline
from runs.engine.quarantine import quarantine
from runs.engine.resume import resume_decided
from runs.engine.types import Go, Outcome, Stop
from runs.models import Quarantined, Run, Step
from runs.node import origin as node_origin
from tests.runs.engine import hands
from tests.runs.engine.test_effects import Story, answered
from tests.tools import make
from tools.models import Intent, WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
def story() -> Story:
    origin.look()
    return Story()


def another_cluster() -> None:
    """As after a restore into another cluster."""
    origin.look()
    DatabaseOrigin.objects.update(system_identifier="1")


def restored(story: Story, *more: str, noticed: bool = False) -> str:
    """``noticed``: the database itself says so; else the command wants to hear that it is meant."""
    more = more if noticed else (*more, "--unnoticed")
    jonas = make.person(story.tenant, Role.ADMINISTRATOR, name="Jonas")
    said = StringIO()
    call_command("restored", "--by", jonas.email, "--reason", "The disk failed.", *more, stdout=said)
    return said.getvalue()


def fence() -> int:
    with connection.cursor() as sequence:
        sequence.execute("SELECT last_value FROM fence")
        return int(sequence.fetchone()[0])


def settle(story: Story, verdict: str, **more: Any) -> None:
    """Answers when nobody from before can still be sending."""
    WorkerProcess.objects.filter(node__startswith="before-restore").update(stopped_at=LONG_AGO)
    story.decide(verdict, kind="settle", **more)
    resume_decided()


@pytest.mark.parametrize(
    "change", [{"system_identifier": "1"}, {"timeline": 99}, {"doubt": "It was set back."}]
)
def test_nothing_is_claimed_from_a_database_that_was_set_back(story, change):
    """Guards `claim_steps.sql`: cluster, timeline and doubt are compared where the lease is taken."""
    story.decide("approve")
    DatabaseOrigin.objects.update(**change)
    assert hands.take(story.me) == []
    assert origin.look().doubt
    restored(story, "--nothing-lost")
    assert origin.look().doubt == ""
    assert len(hands.take(story.me)) == 1


def test_health_says_that_work_is_held(story, client):
    another_cluster()
    body = client.get("/healthz").json()
    assert body["work"] == "held"
    assert "another database cluster" in body["held_because"]


@pytest.mark.parametrize("state", ["asked", "approved", "claimed", "sent", "unknown"])
def test_an_effect_that_is_not_confirmed_is_unknown_after_a_restore(story, state):
    """Guards `restored._step`: whatever the backup knew of it, the effect may have happened since."""
    claimed = None
    if state != "asked":
        story.decide("approve")
    if state in ("claimed", "sent", "unknown"):
        claimed = story.claim()
        if state != "claimed":
            assert isinstance(story.begin(claimed), Go)
        if state == "unknown":
            hands.put(story.me, Outcome(claimed, "lost", dispatch_id=story.intent.dispatch_id))
    before, epoch = fence(), story.run.epoch
    another_cluster()
    assert "1 effects are unknown" in restored(story)
    assert (story.step.status, story.intent.status, story.run.status) == (
        "UNKNOWN",
        "UNKNOWN",
        "WAITING_APPROVAL",
    )
    assert story.run.epoch == epoch + 1
    assert fence() > before + 100_000_000
    assert story.step.fence > before
    assert story.action("settle").status == "OPEN"
    assert story.action().status in ("WITHDRAWN", "VOIDED", "CONSUMED")
    assert hands.take(story.me) == []
    assert timeline.verify(story.run_id) == []
    assert audit.verify(tenant_id=story.tenant.pk) == []
    assert AuditEntry.everywhere.filter(act="database.restored", tenant=story.tenant).count() == 1
    if claimed is not None:
        assert isinstance(story.begin(claimed), Stop)


def test_what_had_not_happened_is_asked_for_again_before_it_is_sent(story):
    """Guards `grants.check` and `doubt`: an approval from before the restore covers no other send."""
    story.decide("approve")
    restored(story)
    settle(story, "not_happened", comment="Not in the log of the mail server.")
    claimed = story.claim() if story.step.status == "PENDING" else None
    if claimed is not None:
        assert isinstance(story.begin(claimed), Stop)
    assert (story.step.status, story.intent.status, story.intent.dispatches) == (
        "WAITING_APPROVAL",
        "PROPOSED",
        0,
    )
    assert story.action().generation == 2
    story.decide("approve")
    again = story.claim()
    go = story.begin(again)
    assert isinstance(go, Go)
    hands.put(story.me, answered(again, go))
    story.finish()
    assert story.run.status == "SUCCEEDED"


def test_what_was_never_asked_is_asked_after_it_did_not_happen(story):
    """Guards `doubt.asks_first`: an effect that nobody had allowed yet is not sent because it has not happened."""
    restored(story)
    settle(story, "not_happened", comment="No.")
    assert (story.step.status, story.intent.status) == ("WAITING_APPROVAL", "PROPOSED")
    assert (story.action().status, story.action().generation) == ("OPEN", 2)
    assert hands.take(story.me) == []


def test_what_had_happened_goes_on_without_another_send(story):
    story.decide("approve")
    restored(story)
    settle(story, "happened", reference="<id@linden.example>")
    story.finish()
    assert (story.run.status, story.intent.status, story.intent.dispatches) == ("SUCCEEDED", "CONFIRMED", 0)


def test_an_effect_planned_after_the_restore_may_have_happened_before_it(story):
    """Guards `planner._effect`: the backup may be older than the plan. The run was live, so its next effects begin UNKNOWN;
    those of a run that was submitted since do not."""
    run = hands.counter_run(story.tenant, story.submitter, steps=1, tool="drill.effect")
    restored(story)
    later = hands.counter_run(story.tenant, story.submitter, steps=1, tool="drill.effect")
    hands.put(story.me, *[hands.done(one) for one in hands.take(story.me)])
    step = Step.everywhere.get(run=run, kind="call")
    assert (step.status, Intent.everywhere.get(run_id=run.pk).status) == ("UNKNOWN", "UNKNOWN")
    assert Step.everywhere.get(run=later, kind="call").status in ("PENDING", "RUNNING")
    assert Run.everywhere.get(pk=run.pk).status == "WAITING_APPROVAL"


def test_a_result_from_before_the_restore_is_kept_aside(story):
    """Guards the epoch of the run: the owner of a lease that the backup still knows reports."""
    run = hands.counter_run(story.tenant, story.submitter, steps=1)
    (claimed,) = hands.take(story.me)
    restored(story)
    assert hands.put(story.me, hands.done(claimed)).refused
    assert quarantine(worker_id=story.me.pk, outcomes=[hands.done(claimed)]) == 0
    assert Quarantined.everywhere.get(run=run).run_epoch == claimed.run_epoch


def test_a_restore_that_was_taken_in_halfway_is_taken_in_to_its_end(story, monkeypatch):
    """Guards `restored`: nothing is claimed in between, and the second call does not raise the epoch of a run twice."""
    second = hands.counter_run(story.tenant, story.submitter, steps=1)
    seen: list[str] = []

    def killed(name: str) -> None:
        seen.append(name)
        if name == "restored.run":
            raise RuntimeError("killed")

    monkeypatch.setattr("runs.engine.restored.fp", killed)
    with pytest.raises(RuntimeError, match="killed"):
        restored(story)
    assert hands.take(story.me) == []
    monkeypatch.undo()
    assert "1 live tasks" in restored(story)
    assert {story.run.epoch, Run.everywhere.get(pk=second.pk).epoch} == {2}
    assert DatabaseOrigin.objects.get().generation == 1
    assert AuditEntry.everywhere.filter(act="database.restored", tenant=story.tenant).count() == 1


def test_only_an_administrator_takes_a_restore_in(story):
    another_cluster()
    for email in (story.approver.email, "nobody@linden.example"):
        with pytest.raises(CommandError, match="Nothing was changed"):
            call_command("restored", "--by", email, "--reason", "x")
    assert origin.look().doubt


# --- the witness outside the database


@pytest.mark.parametrize(
    ("change", "doubted"),
    [({}, False), ({"position": 1}, True), ({"generation": 1}, True), ({"generation": -1}, False)],
)
def test_a_database_that_knows_less_than_it_did_is_noticed(story, tmp_path: Path, change, doubted):
    """Guards `Witness`: a copy of the data folder that was put back has the same cluster and the same timeline."""
    DatabaseOrigin.objects.update(generation=5)
    witness = Witness(tmp_path)
    assert witness.check().doubt == ""
    was = json.loads(witness.file.read_text())
    later = Seen(**{name: value + change.get(name, 0) * 10**9 * (name == "position") if name == "position"
                    else value + change.get(name, 0) if name == "generation" else value for name, value in was.items()})  # fmt: skip
    witness.file.write_text(json.dumps(dataclasses.asdict(later)))
    assert bool(witness.check().doubt) == doubted
    assert (DatabaseOrigin.objects.get().doubt == SET_BACK) == doubted
    assert (hands.take(story.me) == []) or not doubted


def test_a_node_that_lived_through_a_restore_ends(story, tmp_path: Path):
    """Guards `runs.node.origin`: its children may be sending what this database knows nothing of."""
    watched = node_origin.Watched(tmp_path)
    watched.look()
    DatabaseOrigin.objects.update(system_identifier="1")
    watched.due = 0.0
    with pytest.raises(node_origin.OtherDatabase):
        watched.look()
    fresh = node_origin.Watched(tmp_path)
    fresh.look()
    assert fresh.doubt
    restored(story)
    fresh.due = 0.0
    fresh.look()
    assert fresh.doubt == ""


def test_a_healthy_database_is_not_taken_in_by_mistake(story: Story) -> None:
    """Guards config/management/commands/restored.py: while nothing was noticed and somebody works, it takes a flag."""
    before = DatabaseOrigin.objects.get(pk=1).generation
    with pytest.raises(CommandError, match="Nothing says that this database was restored"):
        restored(story, noticed=True)
    assert DatabaseOrigin.objects.get(pk=1).generation == before
    restored(story)
    assert DatabaseOrigin.objects.get(pk=1).generation == before + 1
