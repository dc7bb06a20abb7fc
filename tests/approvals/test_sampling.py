"""What ran without a person is drawn by lot, the same way each time, and answered once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from accounts import ids
from accounts.models import AuditEntry
from approvals import errors, sampling
from approvals.models import Sample
from outbox.models import Message
from runs.engine.sample import draw
from runs.models import Run
from tests.approvals.test_pages import page, signed_in
from tests.approvals.test_races import begin
from tests.make import approvals as make
from tests.races.waiting import wait_until_blocked
from tests.runs.engine import hands
from tests.tools import make as bench
from tools.models import Contract, EffectClass, Intent

pytestmark = pytest.mark.django_db(transaction=True)

AUTO = {"path": "auto", "reasons": []}


@pytest.fixture
def house() -> make.House:
    return make.house()


@pytest.fixture
def task(house: make.House) -> Run:
    bench.contract(house.tenant, "drill.count", target="drill.count", effect_class=EffectClass.READ_ONLY)
    return hands.counter_run(house.tenant, house.ada)


def ran(house: make.House, task: Run, *, under: Contract | None = None, **values: Any) -> Intent:
    """An effect of this task that was confirmed; by itself unless told otherwise."""
    given = {"run_id": task.pk, "verdict": AUTO, "arguments": make.LETTER, "target": make.ADDRESS, **values}
    made = bench.dispatched(under or house.contract, **given)
    Intent.everywhere.filter(pk=made.pk).update(status="CONFIRMED")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tools_intent SET ended_at = clock_timestamp() WHERE id = %s", [made.pk])
    confirmed: Intent = Intent.everywhere.get(pk=made.pk)
    return confirmed


def last_week(*effects: Intent) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tools_intent SET ended_at = date_trunc('week', clock_timestamp() AT TIME ZONE 'UTC')"
            " AT TIME ZONE 'UTC' - interval '1 day' WHERE id = ANY(%s)",
            [[one.pk for one in effects]],
        )


def drawn(house: make.House) -> dict[Any, str]:
    return dict(Sample.everywhere.filter(tenant=house.tenant).values_list("intent_id", "reason"))


def lot(of: Intent) -> str:
    return hashlib.sha256(of.key.encode()).hexdigest()[:8]


@pytest.fixture
def percent(settings: Any) -> Callable[[float], None]:
    def to(share: float) -> None:
        settings.COUNTERSIGN = settings.COUNTERSIGN.model_copy(update={"sample_percent": share})

    return to


@pytest.fixture
def sample(house: make.House, task: Run, percent: Callable[[float], None]) -> Sample:
    percent(100)
    ran(house, task)
    draw()
    found: Sample = Sample.everywhere.get()
    return found


def answer(one: Sample, by: Any, *, fits: bool = True, comment: str = "") -> Sample:
    return sampling.answer(sample_id=one.pk, user_id=by.pk, fits=fits, comment=comment, channel="web")


def test_c19_the_share_is_drawn_by_the_hash_of_the_key_and_only_once(house, task, percent):
    """Guards runs/sql/unsampled.sql: the lot is the hash, and what is drawn is not drawn again."""
    effects = [ran(house, task) for _ in range(8)]
    ordered = sorted(effects, key=lot)
    share = (int(lot(ordered[2]), 16) + 1) / 2**32 * 100
    percent(share)
    assert draw() == 3
    assert drawn(house) == {one.pk: "share" for one in ordered[:3]}
    assert draw() == 0
    with transaction.atomic():
        Sample.everywhere.all().delete()
    assert draw(limit=2) == 2
    assert drawn(house) == {one.pk: "share" for one in ordered[:2]}, "the same lots again"


def test_c19_a_tool_without_a_lot_gives_one_once_its_week_is_over(house, task, percent):
    """Guards runs/sql/unsampled.sql: at least one a week for each tool, not before the week is over."""
    percent(0)
    other = bench.contract(house.tenant, "crm.note")
    letters, notes = [ran(house, task) for _ in range(3)], [ran(house, task, under=other) for _ in range(2)]
    assert draw() == 0, "whoever runs first this week does not choose which is looked at"
    last_week(*letters, *notes)
    assert draw() == 2
    assert drawn(house) == {min(letters, key=lot).pk: "week", min(notes, key=lot).pk: "week"}
    assert draw() == 0


def test_only_what_ran_alone_and_changed_something_is_drawn(house, task, percent):
    """Guards runs/sql/unsampled.sql: no reading, nothing that a person granted, nothing unconfirmed."""
    percent(100)
    reading = bench.contract(house.tenant, "crm.read", effect_class=EffectClass.READ_ONLY)
    ran(house, task, under=reading)
    granted = ran(house, task)
    Intent.everywhere.filter(pk=granted.pk).update(grant=ids.new_id())
    ran(house, task, verdict={"path": "approval", "reasons": []})
    bench.dispatched(house.contract, run_id=task.pk, verdict=AUTO)
    alone = ran(house, task)
    assert draw() == 1
    assert drawn(house) == {alone.pk: "share"}
    assert Sample.everywhere.get().submitter_id == house.ada.pk


def test_c19_who_submitted_the_task_does_not_answer(house, sample):
    """Guards approvals/sampling.py `refusals`: four eyes, role and membership."""
    make.roles(house, house.ada, "submitter", "approver", "administrator")
    with pytest.raises(errors.NotAllowed, match="You submitted"):
        answer(sample, house.ada)
    make.roles(house, house.ben, "submitter")
    for person in (house.ben, house.otto):
        with pytest.raises(errors.NotAllowed, match="approvers and administrators"):
            answer(sample, person)
    assert answer(sample, house.jonas).fits is True


def test_an_answer_is_kept_told_and_in_the_chain(house, sample):
    """Guards approvals/sampling.py `answer`: a misfit has a reason."""
    with pytest.raises(errors.BadAnswer, match="Say what"):
        answer(sample, house.ben, fits=False, comment="  ")
    answer(sample, house.ben, fits=False, comment="The wrong address.")
    sample.refresh_from_db()
    assert (sample.fits, sample.answered_by, sample.comment) == (False, house.ben, "The wrong address.")
    entry = AuditEntry.everywhere.get(act="sample.answered")
    assert (entry.actor_id, entry.run_id) == (house.ben.pk, sample.intent.run_id)
    assert entry.payload == {"tool": "mail.send", "fits": False, "comment": "The wrong address."}
    told = Message.objects.get(topic="sample.answered").payload
    assert (told["sample_id"], told["fits"]) == (sample.pk.hex, False)


def test_c19_of_two_at_once_one_answers_and_the_other_is_told(house, sample):
    """Guards approvals/sampling.py `answer`: the row is locked before it is looked at."""
    with transaction.atomic():
        Sample.everywhere.select_for_update().get(pk=sample.pk)
        both = [begin(partial(answer, sample, who)) for who in (house.ben, house.mira)]
        wait_until_blocked(2)
    assert sorted(one.result(30) for one in both) == ["already_looked_at", "ok"]
    assert AuditEntry.everywhere.filter(act="sample.answered").count() == 1


def test_the_pages_show_what_was_sent_and_take_the_answer(house, sample):
    """Guards approvals/views/samples.py."""
    address = f"/quality/samples/{ids.public('sample', sample.pk)}/"
    ben = signed_in(house.ben)
    assert address in page(ben, "/quality/samples/")
    shown = page(ben, address)
    assert "We do not wish to renew the agreement." in shown
    assert "No rule of its contract asks for a person." in shown
    page(signed_in(house.ada), address, status=403)
    page(signed_in(house.otto), address, status=404)
    assert ben.post(address, {"fits": "no", "comment": ""}).status_code == 400
    assert ben.post(address, {}).status_code == 400
    assert ben.post(address, {"fits": "no", "comment": "Wrong year."}).status_code == 302
    assert "Wrong year." in page(ben, address)
    assert "/tools/mail.send/" in page(signed_in(house.jonas), address)
    late = signed_in(house.mira).post(address, {"fits": "yes"})
    assert late.status_code == 409
    assert "Ben Okafor was faster" in late.content.decode()
