"""What was told to whom: the bell, the item's page, the administrators' page, and every event that people hear of."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as conf
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client

from accounts import tokens
from accounts.models import Absence, Tenant, User
from approvals import grants
from approvals.expire import expire
from approvals.models import Decision, PendingAction
from approvals.take_back import take_back
from outbox import relay
from outbox.append import append
from outbox.models import Message, Notification
from outbox.notify import choices
from outbox.relay import drain
from outbox.routes import MAIL, Consumer, Hopeless, declare
from tests.approvals.test_pages import everything
from tests.make import approvals as make
from tests.make import people
from tests.outbox.conftest import PostOffice
from tests.outbox.test_relay import due_now

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("table")]


@pytest.fixture
def house() -> make.House:
    return make.house()


def post() -> None:
    drain(limit=100)
    drain(limit=10, lane=MAIL)


def tell(topic: str, action: PendingAction, **more: Any) -> None:
    payload = {"action_id": action.pk, "run_id": action.run_id, "kind": action.kind, "status": action.status}
    append(
        topic=topic, key=f"action:{action.pk.hex}", tenant_id=action.tenant_id, payload={**payload, **more}
    )
    post()


def subjects(office: PostOffice, user: User) -> list[str]:
    return [letter["Subject"].split(":")[0].strip() for letter in office.to(user.email)]


def unread(user: User) -> int:
    return Notification.everywhere.filter(user=user, channel="page", read_at=None).count()


def test_a_note_in_the_page_is_read_by_opening_it(house: make.House) -> None:
    action = make.question(house)
    drain(limit=100)
    client = people.browser(house.ben)
    page = client.get("/notes/").content.decode()
    assert f"To decide: {action.sentence}" in page
    assert 'id="notes-count">1<' in page
    note = Notification.everywhere.get(user=house.ben, channel="page")
    assert client.get(f"/notes/{note.pk}/open/").status_code == 405, "following a link changes nothing"
    answer = client.post(f"/notes/{note.pk}/open/")
    assert answer["Location"] == f"/inbox/act_{action.pk.hex}/"
    assert unread(house.ben) == 0
    assert 'id="notes-count" hidden' in client.get("/notes/").content.decode()
    assert unread(house.mira) == 1
    assert people.browser(house.mira).post(f"/notes/{note.pk}/open/").status_code == 404


def test_what_was_decided_need_not_be_read(house: make.House) -> None:
    """Guards outbox/notify/spread.py `_over`."""
    action = make.question(house)
    drain(limit=100)
    make.answer(action, house.ben, "reject")
    drain(limit=100)
    assert (unread(house.ben), unread(house.mira)) == (0, 0)


def test_b65_the_page_of_an_item_says_who_was_told_and_what_failed(
    house: make.House, office: PostOffice
) -> None:
    """Guards approvals/present/told.py: the delivery state of every note stands with the item."""
    office.refuse.add(house.ben.email)
    action = make.question(house)
    post()
    page = people.browser(house.mira).get(f"/inbox/act_{action.pk.hex}/").content.decode()
    told = page[page.index('id="told"') :]
    told = told[: told.index("</details>")]
    assert "1 note failed" in told
    assert "refuses this recipient" in told
    assert "taken by the mail server" in told


def test_b65_an_administrator_sends_what_failed_again(house: make.House, office: PostOffice) -> None:
    """Guards outbox/verbs/resend_note.py: state and message change together; only what failed is sent again."""
    office.refuse.add(house.ben.email)
    make.question(house)
    post()
    failed = Notification.everywhere.get(user=house.ben, channel="mail")
    client = people.browser(house.jonas)
    page = client.get("/settings/notes/").content.decode()
    assert "refuses this recipient" in page
    office.refuse.clear()
    for _ in range(2):
        client.post(f"/settings/notes/{failed.pk}/again/")
    post()
    assert len(office.to(house.ben.email)) == 1
    assert len(office.to(house.mira.email)) == 1
    assert "None." in client.get("/settings/notes/").content.decode()


@pytest.mark.parametrize("times", [1, 5])
def test_b65_an_event_told_often_is_one_note_and_a_decision_sent_often_is_one(
    house: make.House, office: PostOffice, times: int
) -> None:
    """Guards outbox/notify/spread.py `_spread` and approvals/decide.py: the callback of a channel comes as often as it
    likes."""
    action = make.question(house)
    for _ in range(times):
        Message.objects.filter(topic="action.opened").update(published_at=None)
        due_now()
        post()
    assert len(office.to(house.ben.email)) == 1
    _, token = tokens.issue(
        user_id=house.ben.pk, tenant_id=house.tenant.pk, name="t", scopes=["read", "decide"]
    )
    headers: Any = {"HTTP_AUTHORIZATION": f"Bearer {token}", "HTTP_IDEMPOTENCY_KEY": "decide-once-0000001"}
    address = f"/api/v1/actions/act_{action.pk.hex}/"
    seen = Client().get(address, **headers)
    body = {"verdict": "reject", "digest": seen.json()["digest"], "generation": 1, "comment": "No."}
    statuses = {
        Client()
        .post(f"{address}decide/", body, "application/json", **headers, HTTP_IF_MATCH=seen["ETag"])
        .status_code
        for _ in range(times)
    }
    assert len(statuses) == 1
    assert statuses <= {200, 201}
    assert Decision.everywhere.filter(action=action).count() == 1


def test_b55_a_channel_that_is_down_delays_no_decision(house: make.House, settings: Any) -> None:
    """Guards approvals/open.py and decide.py: they only append; the deadline stands in the row of the question."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    action = make.question(house)
    before = action.expires_at
    post()
    assert "To decide" in people.browser(house.ben).get("/notes/").content.decode()
    assert make.answer(action, house.ben, "approve").verdict == "approve"
    action.refresh_from_db()
    assert action.expires_at == before
    assert set(Notification.everywhere.filter(channel="mail").values_list("status", flat=True)) <= {"pending"}


def test_those_who_wait_are_chased(house: make.House, office: PostOffice) -> None:
    action = make.question(house)
    tell("action.reminder", action)
    assert subjects(office, house.ben)[-1] == "Still to decide"
    tell("action.escalated", action)
    assert subjects(office, house.jonas) == ["Escalated"], "administrators, while nobody is named"
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=house.mira)
    tell("action.escalated", action)
    assert subjects(office, house.mira)[-1] == "Escalated"
    PendingAction.everywhere.filter(pk=action.pk).update(undecidable_since=Now())
    tell("action.undecidable", action)
    assert "Nobody can decide" in subjects(office, house.jonas)
    assert "Nobody can decide" in subjects(office, house.mira)


def test_what_was_handed_over_is_told_and_to_the_stand_in_of_who_is_away(
    house: make.House, office: PostOffice
) -> None:
    action = make.question(house)
    post()
    PendingAction.everywhere.filter(pk=action.pk).update(assignee=house.mira, delegated_by=house.ben)
    tell("action.delegated", action, user_id=house.mira.pk)
    assert subjects(office, house.mira)[-1] == "Handed to you"
    assert "Ben Okafor handed this to you" in office.to(house.mira.email)[-1].get_content()
    Absence.everywhere.create(tenant=house.tenant, user=house.mira, stand_in=house.ben, begins_at=Now(), ends_at=Now() + timedelta(days=3))  # fmt: skip
    before = len(office.to(house.mira.email))
    tell("action.delegated", action, user_id=house.mira.pk)
    assert len(office.to(house.mira.email)) == before
    assert "Mira Sandoval is away and you stand in" in office.to(house.ben.email)[-1].get_content()


def test_one_signature_tells_the_next(house: make.House, office: PostOffice) -> None:
    """Guards approvals/announce.py `signed`."""
    action = make.question(house, policy={**make.POLICY, "quorum": 2})
    make.answer(action, house.ben, "approve")
    post()
    assert subjects(office, house.mira)[-1] == "To sign next"
    assert "Ben Okafor has signed" in office.to(house.mira.email)[-1].get_content()
    assert "To sign next" not in subjects(office, house.ben)
    assert (unread(house.ben), unread(house.mira)) == (0, 1), "the newest note is the one to read"


def test_who_signed_hears_that_it_does_not_hold_and_who_asked_that_nobody_came(
    house: make.House, office: PostOffice
) -> None:
    action = make.question(house)
    make.answer(action, house.ben, "approve")
    with transaction.atomic():
        grants.void(action_id=action.pk, reason="The target changed.")
    post()
    assert subjects(office, house.ben)[-1] == "Does not hold any more"
    assert "The target changed" in office.to(house.ben.email)[-1].get_content()
    late = make.question(house)
    with transaction.atomic():
        assert late.expires_at is not None
        assert expire(action_id=late.pk, now=late.expires_at)
    post()
    assert "Not decided in time" in subjects(office, house.ada)


def test_who_takes_back_needs_no_note_about_it(house: make.House, office: PostOffice) -> None:
    action = make.question(house, policy={**make.POLICY, "quorum": 2})
    make.answer(action, house.ben, "approve")
    make.answer(action, house.mira, "approve")
    take_back(action_id=action.pk, user_id=house.ben.pk, channel="web", reason="Too early")
    post()
    assert "Does not hold any more" in subjects(office, house.mira)
    assert "Too early" in office.to(house.mira.email)[-1].get_content()
    assert "Does not hold any more" not in subjects(office, house.ben)


def test_b51_c33_no_link_of_any_note_changes_anything_and_all_lead_here(
    house: make.House, office: PostOffice
) -> None:
    """Guards approvals/notes/common.py `letter` and runs/notes: whatever a scanner or a browser does with a link, nothing
    changes; and no request's Host ever made one."""
    action = make.question(house)
    PendingAction.everywhere.filter(pk=action.pk).update(
        undecidable_since=Now(), assignee=house.ben, delegated_by=house.mira
    )
    for topic in ("action.reminder", "action.escalated", "action.undecidable"):
        tell(topic, action)
    tell("action.delegated", action, user_id=house.ben.pk)
    assert len({letter["Subject"] for letter in office.letters}) >= 5
    before = everything()
    for letter in office.letters:
        links = re.findall(r"https?://\S+", letter.get_content())
        assert links
        for link in links:
            assert link.startswith(f"{conf.PUBLIC_URL}/")
            for client in (Client(), people.browser(house.ben)):
                for method in ("get", "head", "options"):
                    path = link.removeprefix(conf.PUBLIC_URL)
                    assert getattr(client, method)(path).status_code in (200, 302, 405)
    assert everything() == before


def test_administrators_hear_of_a_dead_letter_and_of_no_echo(house: make.House, office: PostOffice) -> None:
    """Guards outbox/relay.py `_put_back`: told in the transaction that buries; of notes that fail nothing is told, or a bad
    address would write about itself for ever."""

    def refuse(deliveries: Any) -> Any:
        return {one.event_id: Hopeless("nobody wants it") for one in deliveries}

    declare("thing", [Consumer("ear", refuse)])
    office.refuse.add(house.jonas.email)
    append(topic="thing", tenant_id=house.tenant.pk)
    post()
    post()
    note = Notification.everywhere.get(user=house.jonas, channel="page")
    assert (note.kind, note.subject) == ("trouble", "Dead letter: thing")
    assert Message.objects.filter(topic=relay.DEAD).count() == 1
    client = people.browser(house.jonas)
    assert "nobody wants it" in client.get("/settings/dead-letters/").content.decode()


def test_settings_of_notes_are_saved_and_the_chat_is_not_shown(house: make.House) -> None:
    client = people.browser(house.ben)
    page = client.get("/settings/notifications/").content.decode()
    assert "contract_review" not in page, "a kind that only administrators get"
    form: dict[str, Any] = {"every": "daily", "hour": "7"}
    table = choices.table(tenant_id=house.tenant.pk, user_id=house.ben.pk, administrator=False)
    form |= {
        f"{kind.name}__{channel}": timing for kind, timings in table for channel, timing in timings.items()
    }
    answer = client.post("/settings/notifications/", {**form, "reminder__mail": "digest"})
    assert answer.status_code == 302, answer.content.decode()[:2000]
    now = dict(choices.table(tenant_id=house.tenant.pk, user_id=house.ben.pk, administrator=False))
    assert {kind.name for kind, timings in now.items() if timings["mail"] == "digest"} == {"reminder"}  # type: ignore[index]
    refused = client.post("/settings/notifications/", {**form, "escalated_to_me__page": "off"})
    assert refused.status_code == 200
    client.post(
        "/settings/notifications/chat/", {"act": "set", "address": "discord://123456789/s3cret-token"}
    )
    page = client.get("/settings/notifications/").content.decode()
    assert "Discord" in page
    assert "s3cret" not in page
    client.post("/settings/notifications/chat/", {"act": "drop"})
    assert "Discord</b>" not in client.get("/settings/notifications/").content.decode()


def test_the_same_over_rest(house: make.House) -> None:
    make.question(house)
    drain(limit=100)
    _, token = tokens.issue(
        user_id=house.ben.pk, tenant_id=house.tenant.pk, name="t", scopes=["read", "profile"]
    )
    headers: Any = {"HTTP_AUTHORIZATION": f"Bearer {token}", "content_type": "application/json"}
    client, root = Client(), "/api/v1/me/notifications/"
    found = client.get(root, **headers).json()
    assert (found["unread"], len(found["results"])) == (1, 1)
    one = found["results"][0]
    assert (one["kind"], one["read_at"]) == ("waits_for_me", None)
    assert client.post(f"{root}read/", {"ids": [one["id"]]}, **headers).json() == {"read": 1}
    assert client.get(f"{root}?unread=1", **headers).json()["results"] == []
    changed = client.patch(
        f"{root}preferences/",
        {"choices": {"reminder": {"mail": "off"}}, "digest": {"every": "hourly", "hour": 0}},
        **headers,
    ).json()
    assert changed["choices"]["reminder"]["mail"] == "off"
    assert changed["digest"]["every"] == "hourly"
    bad = client.patch(f"{root}preferences/", {"choices": {"escalated_to_me": {"page": "off"}}}, **headers)
    assert bad.status_code == 422
    assert client.get(f"{root}chat/", **headers).status_code == 404
    made = client.put(f"{root}chat/", {"address": "discord://123456789/s3cret-token"}, **headers)
    assert made.json()["service"] == "Discord"
    assert "s3cret" not in made.content.decode()
    assert client.delete(f"{root}chat/", **headers).status_code == 204
