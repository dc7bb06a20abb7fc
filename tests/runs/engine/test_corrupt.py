"""A lost or corrupt artifact is found when it is read: what can be made again is, else a person is asked (S15)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import orjson
import pytest

from accounts.ids import new_id
from accounts.models import AuditEntry
from approvals.models import PendingAction
from outbox.models import Message
from runs import blobs, timeline, uploads
from runs.engine import corrupt
from runs.engine.begin import begin
from runs.engine.cancel import cancel
from runs.engine.types import DAMAGED, Claimed, Go, Outcome, Stored
from runs.leases import Terms
from runs.models import Artifact, Damage, Event, Run, Step
from runs.node.child_io import drive
from runs.node.execute import execution
from runs.node.tool_context import StepContext
from runs.node.work import Work, item
from tests.make import runs as make
from tests.runs.engine import hands
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> make.House:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ARTIFACT_URL", raising=False)
    return make.house()


def in_a_child(claimed: Claimed, go: Go | None = None) -> Outcome:
    """What a node's child does with the step, by the child's own rules."""
    if claimed.kind == "plan":
        return hands.done(claimed)
    work = Work(*orjson.loads(orjson.dumps(item(claimed, terms=Terms(lease=1e9, tick=1)), default=str)))
    report = drive(execution(work, StepContext(work)), lambda: go)
    ok = report.ending == "succeeded"
    plan = hands.planned(
        claimed, status="SUCCEEDED" if ok else "FAILED", output=report.output, code=report.error_code
    )
    return Outcome(
        claimed,
        report.ending,  # type: ignore[arg-type]
        report.output,
        report.error_code,
        report.error_text,
        [Stored(**file) for file in report.artifacts],
        plan,
        dispatch_id=go.dispatch_id if go else None,
    )


def lose(file: Artifact) -> bytes:
    path = blobs.path_or_bytes(file.uri)
    assert isinstance(path, Path)
    whole = path.read_bytes()
    path.unlink()
    return whole


def spoil(file: Artifact) -> bytes:
    path = blobs.path_or_bytes(file.uri)
    assert isinstance(path, Path)
    whole = path.read_bytes()
    path.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    return whole


def one(run: Run, name: str, **more: Any) -> Artifact:
    found: Artifact = Artifact.everywhere.filter(run=run, name=name, **more).earliest("created_at")
    return found


def before_the_join(house: make.House) -> Run:
    """The documents are read; the report is not written yet."""
    run = house.submitted()
    for _ in range(2):
        hands.put(house.me, *[in_a_child(claimed) for claimed in hands.take(house.me)])
    assert Step.everywhere.filter(run=run, key="join", status="PENDING", held=False).exists()
    return run


@pytest.mark.parametrize(("harm", "found"), [(lose, "missing"), (spoil, "corrupt")])
def test_what_a_read_only_step_made_is_made_again_and_its_reader_waits(house, harm, found):
    """Guards ``runs/engine/remake.py`` ``plan`` and ``runs/engine/damage.py`` ``wait``."""
    run = before_the_join(house)
    review = one(run, "halden.txt.review.json")
    harm(review)
    (join,) = hands.take(house.me)
    outcome = in_a_child(join)
    assert (outcome.error_code, outcome.output) == (
        DAMAGED,
        {"artifact": review.sha256, "found": found},
    )
    hands.put(house.me, outcome)

    first, waiting = Step.everywhere.get(pk=review.step_id), Step.everywhere.get(pk=join.step_id)
    again = Step.everywhere.get(run=run, kind="remake")
    assert (waiting.status, waiting.held, waiting.failures, waiting.epoch) == ("PENDING", True, 0, 2)
    assert (again.status, again.tool, again.input, again.epoch) == (
        "PENDING",
        first.tool,
        first.input,
        first.epoch + 1,
    )
    assert make.again(run).status == "RUNNING"
    assert not PendingAction.everywhere.filter(run_id=run.pk).exists()

    (claimed,) = hands.take(house.me)
    assert claimed.step_id == again.pk
    assert claimed.fence > first.fence
    hands.put(house.me, in_a_child(claimed))
    hands.run_all(house.me, in_a_child)

    run = make.again(run)
    assert (run.status, run.steps_ended) == ("WAITING_APPROVAL", 2)
    damage = Damage.everywhere.get(run=run)
    assert (damage.found, damage.seen_by, damage.done, damage.outcome) == (
        found,
        "worker",
        "remaking",
        "same",
    )
    blobs.check(review.uri)
    first.refresh_from_db()
    assert first.status == "SUCCEEDED"
    remade = Artifact.everywhere.get(step=again)
    assert (remade.sha256, remade.fence) == (review.sha256, claimed.fence)
    told = list(Event.everywhere.filter(run=run).order_by("sequence").values_list("type", flat=True))
    assert told.index("artifact.damaged") < told.index("artifact.remade")
    assert timeline.verify(run.pk) == []
    assert AuditEntry.everywhere.filter(act="artifact.damaged", run_id=run.pk).count() == 1
    assert Message.objects.filter(topic="artifact.damaged").count() == 1


def test_an_upload_that_is_gone_is_a_persons_matter_and_goes_on_when_it_is_put_back(house):
    """Guards ``runs/engine/damage.py`` ``treat``: nothing made it, so nobody makes it again by guessing."""
    run = house.submitted()
    hands.put(house.me, *[in_a_child(claimed) for claimed in hands.take(house.me)])
    upload = one(run, "halden.txt")
    whole = lose(upload)
    (reading,) = hands.take(house.me)
    hands.put(house.me, in_a_child(reading))

    step = Step.everywhere.get(pk=reading.step_id)
    assert (step.status, step.error_code) == ("WAITING_APPROVAL", DAMAGED)
    assert make.again(run).status == "WAITING_APPROVAL"
    asked = house.action(run, "take_over")
    assert "halden.txt" in asked.sentence
    assert hands.take(house.me) == []

    house.answer(run, "continue", "take_over", comment="Look again")
    hands.run_all(house.me, in_a_child)
    asked = house.action(run, "take_over")
    assert asked.status == "OPEN", "it is still gone, so a person is asked again"

    uploads.keep(tenant_id=house.tenant.pk, user_id=house.ada.pk, name="copy.txt", stream=io.BytesIO(whole))
    house.answer(run, "continue", "take_over", comment="Put back")
    hands.run_all(house.me, in_a_child)
    assert make.again(run).status == "WAITING_APPROVAL"
    assert house.action(run).kind == "approve"
    assert set(Damage.everywhere.filter(run=run).values_list("outcome", flat=True)) == {"answered"}


def test_an_attachment_that_is_gone_after_the_approval_is_not_sent_and_keeps_the_approval(house):
    """Guards ``runs/engine/record.py`` ``_unread``: known not to have been sent, and no failure of the mail."""
    run = house.reviewed()
    lose(one(run, "notice.pdf"))
    claimed, go = house.sending(run)
    outcome = in_a_child(claimed, go)
    assert outcome.error_code == DAMAGED
    hands.put(house.me, outcome)

    step, intent = Step.everywhere.get(pk=claimed.step_id), Intent.everywhere.get(pk=claimed.intent_id)
    assert (step.status, intent.status) == ("PENDING", "AUTHORISED")
    (again,) = hands.take(house.me)
    assert again.kind == "remake"
    hands.put(house.me, in_a_child(again))
    assert Damage.everywhere.get(run=run).outcome == "same"
    # The agent is asked as well, and has nothing to say while the mail is under way.
    taken = {one.kind: one for one in hands.take(house.me)}
    hands.put(house.me, hands.done(taken["plan"]))
    mail = taken["call"]
    assert mail.step_id == claimed.step_id
    answer = begin(claimed=mail, worker_id=house.me.pk, sender=new_id(), pid=1)
    assert isinstance(answer, Go), "the approval covers the same bytes"
    hands.put(house.me, Outcome(mail, "succeeded", {"reply": "250 ok"}, dispatch_id=answer.dispatch_id))
    house.finish()
    assert make.again(run).status == "SUCCEEDED"


def test_other_content_than_before_is_a_persons_matter(house):
    """What approvals and steps speak of is the old content: a new one does not take its place."""
    run = before_the_join(house)
    lose(one(run, "halden.txt.review.json"))
    hands.put(house.me, *[in_a_child(claimed) for claimed in hands.take(house.me)])
    (again,) = hands.take(house.me)
    sha256, size, _ = blobs.put(b"{}")
    other = Stored(sha256, size, "application/json", "halden.txt.review.json")
    hands.put(house.me, Outcome(again, "succeeded", {"ok": True}, artifacts=[other]))
    assert Damage.everywhere.get(run=run).outcome == "other"
    assert "halden.txt.review.json" in house.action(run, "take_over").sentence
    assert hands.take(house.me) == [], "the takeover holds the reader too"
    assert make.again(run).status == "WAITING_APPROVAL"
    assert PendingAction.everywhere.filter(run_id=run.pk, kind="take_over", status="OPEN").count() == 1
    house.answer(run, "fail", "take_over", comment="Start anew")
    assert make.again(run).status == "FAILED"


def test_a_remake_that_fails_is_tried_by_its_contract_and_then_a_person_is_asked(house):
    run = before_the_join(house)
    lose(one(run, "halden.txt.review.json"))
    hands.put(house.me, *[in_a_child(claimed) for claimed in hands.take(house.me)])
    for _ in range(5):
        Step.everywhere.filter(run=run, status="PENDING").update(not_before="2020-01-01T00:00:00Z")
        claimed = [step for step in hands.take(house.me) if step.kind == "remake"]
        if not claimed:
            break
        hands.put(house.me, *[Outcome(step, "lost", error_code="worker_lost") for step in claimed])
    assert Step.everywhere.get(run=run, kind="remake").status == "FAILED"
    assert Damage.everywhere.get(run=run).outcome == "failed"
    assert house.action(run, "take_over").status == "OPEN"


def test_what_an_effect_made_is_never_made_again(house):
    """Guards ``runs/engine/remake.py`` ``_may_run_again``: doing it twice would be a second effect."""
    run = house.reviewed()
    sha256, size, uri = blobs.put(b"a receipt of the far side")
    step = Step.everywhere.get(run=run, tool="mail.send")
    receipt = Artifact.everywhere.create(
        tenant=house.tenant,
        run=run,
        step=step,
        kind="evidence",
        name="receipt.txt",
        sha256=sha256,
        size=size,
        media_type="text/plain",
        uri=uri,
    )
    lose(receipt)
    damage = corrupt.found(artifact_id=receipt.pk, how="missing", seen_by="download")
    assert damage.done == "asked"
    assert not Step.everywhere.filter(run=run, kind="remake").exists()
    assert "receipt.txt" in house.action(run, "take_over").sentence


def test_the_end_is_put_off_until_the_file_is_back(house):
    """A download finds the damage while the last step runs: the agent's end waits for the remake, and no takeover opens."""
    run = house.counted(steps=2)
    hands.put(house.me, hands.done(hands.take(house.me)[0]))
    sha256, size, _ = blobs.put(b"a result")
    (first,) = hands.take(house.me)
    file = Stored(sha256, size, "text/plain", "result.txt")
    hands.put(
        house.me, Outcome(first, "succeeded", {}, artifacts=[file], plan=hands.planned(first, output={}))
    )
    lose(one(run, "result.txt"))
    (last,) = hands.take(house.me)
    damage = corrupt.found(artifact_id=one(run, "result.txt").pk, how="missing", seen_by="download")
    again = corrupt.found(artifact_id=one(run, "result.txt").pk, how="missing", seen_by="download")
    assert (damage.pk, damage.done) == (again.pk, "remaking")
    # The agent is asked against the version that the finding made, and says that it is finished.
    hands.put(house.me, hands.done(last))
    busy = {claimed.kind: claimed for claimed in hands.take(house.me)}
    assert set(busy) == {"plan", "remake"}
    hands.put(house.me, hands.done(busy["plan"]))
    assert make.again(run).status == "RUNNING"
    assert hands.take(house.me) == []
    blobs.put(b"a result")
    hands.put(house.me, Outcome(busy["remake"], "succeeded", {}, artifacts=[file]))
    hands.run_all(house.me)
    run = make.again(run)
    assert (run.status, run.steps_ended) == ("SUCCEEDED", 2)
    assert not PendingAction.everywhere.filter(run_id=run.pk).exists()


def test_a_run_that_has_ended_is_not_touched(house):
    """Guards ``runs/engine/corrupt.py`` ``found``: noted and told, once, and nothing of the run is rewritten."""
    run = house.sent(house.reviewed())
    assert run.status == "SUCCEEDED"
    report = one(run, "report.md")
    spoil(report)
    before = (run.version, run.event_seq, Step.everywhere.filter(run=run).count())
    for _ in range(3):
        damage = corrupt.found(artifact_id=report.pk, how="corrupt", seen_by="download")
        assert damage.done == "noted"
    run = make.again(run)
    assert (run.version, run.event_seq, Step.everywhere.filter(run=run).count()) == before
    assert AuditEntry.everywhere.filter(act="artifact.damaged", run_id=run.pk).count() == 1
    assert Message.objects.filter(topic="artifact.damaged").count() == 1


def test_a_reader_in_a_run_that_is_stopping_ends(house):
    run = before_the_join(house)
    lose(one(run, "halden.txt.review.json"))
    (join,) = hands.take(house.me)
    outcome = in_a_child(join)
    cancel(run_id=run.pk, user_id=house.ada.pk)
    hands.put(house.me, outcome)
    assert make.again(run).status == "CANCELLED"
    assert Step.everywhere.get(pk=join.step_id).status == "FAILED"


def test_a_late_reader_changes_nothing(house):
    """The lease went to another: the finding of the old one goes to quarantine."""
    run = before_the_join(house)
    lose(one(run, "halden.txt.review.json"))
    (join,) = hands.take(house.me)
    outcome = in_a_child(join)
    Step.everywhere.filter(pk=join.step_id).update(fence=join.fence + 1000)
    hands.put(house.me, outcome)
    assert not Damage.everywhere.exists()
    assert not Step.everywhere.filter(run=run, kind="remake").exists()
