"""Notes and letters over a real mail server: who gets one, once, in their language, whoever else's fails."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Mapping
from typing import Any

import pytest
from django.utils.translation import gettext as _

from accounts import letters
from accounts.letters import Letter
from accounts.models import User
from accounts.verbs.invite import invite
from outbox import notify
from outbox.append import append
from outbox.consumers.post import one_line
from outbox.models import Message, Notification, WebhookEndpoint
from outbox.notify import writers
from outbox.relay import drain, relay
from outbox.routes import MAIL, declare
from tests.make import people as make
from tests.outbox.conftest import PostOffice
from tests.outbox.test_relay import due_now

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("table")]


class Announcement:
    """A writer as a room above would register it."""

    kinds = ("waits_for_me",)

    def __init__(self) -> None:
        self.people: list[User] = []
        self.pointless = False
        self.subject = "It happened"

    def kind_of(self, payload: Mapping[str, Any], user: User | None) -> str:
        return "waits_for_me"

    def path(self, payload: Mapping[str, Any]) -> str:
        return f"/things/{payload['n']}/"

    def recipients(self, payload: Mapping[str, Any]) -> list[User]:
        return self.people

    def letter(self, payload: Mapping[str, Any], user: User) -> Letter | None:
        if self.pointless:
            return None
        return Letter(user.email, self.subject, f"{_('Approver')} {payload['n']}")


@pytest.fixture
def announcement(monkeypatch: pytest.MonkeyPatch) -> Announcement:
    made = Announcement()
    monkeypatch.setitem(writers._writers, "thing", made)
    declare("thing", [notify.NOTES])
    return made


@pytest.fixture
def cast(announcement: Announcement) -> make.Cast:
    made = make.cast()
    announcement.people = [made.ben, made.mira]
    return made


def happen(cast: make.Cast, n: int = 1) -> uuid.UUID:
    return append(topic="thing", tenant_id=cast.tenant.pk, payload={"n": n})


def mailed(user: User) -> Notification:
    found: Notification = Notification.everywhere.get(user=user, channel="mail")
    return found


def post() -> None:
    drain(limit=100)
    drain(limit=10, lane=MAIL)


def test_everybody_gets_one_with_a_stable_id(cast: make.Cast, office: PostOffice) -> None:
    event = happen(cast)
    post()
    assert [letter["To"] for letter in office.letters] == [cast.ben.email, cast.mira.email]
    first = office.letters[0]
    assert first["Subject"] == "It happened"
    assert first["Message-ID"] == f"<{notify.reference(event, cast.ben.pk)}@127.0.0.1>"
    assert first["Message-ID"] != office.letters[1]["Message-ID"]
    assert first["Auto-Submitted"] == "auto-generated"
    assert first.get_content().strip() == "Approver 1"
    rows = Notification.everywhere.filter(channel="mail")
    assert {row.status for row in rows} == {Notification.Status.SENT}
    assert all(row.sent_at and row.attempts == 1 for row in rows)
    post()
    assert len(office.letters) == 2


def test_an_event_told_twice_is_one_note_each(cast: make.Cast, office: PostOffice) -> None:
    """Guards outbox/notify/spread.py `_spread`: the receipt."""
    happen(cast)
    drain(limit=100)
    Message.objects.filter(topic="thing").update(published_at=None)
    due_now()
    post()
    assert len(office.letters) == 2
    assert Notification.everywhere.filter(channel="mail").count() == 2
    assert not Message.objects.filter(published_at=None).exists(), "a repeat is no failure"


def test_each_in_their_own_language(cast: make.Cast, office: PostOffice) -> None:
    User.objects.filter(pk=cast.mira.pk).update(language="zh-hans")
    happen(cast)
    post()
    (english,), (chinese,) = office.to(cast.ben.email), office.to(cast.mira.email)
    assert english.get_content().startswith("Approver")
    assert not chinese.get_content().startswith("Approver")


def test_who_never_chose_is_written_to_in_the_language_of_the_tenant(
    cast: make.Cast, office: PostOffice
) -> None:
    cast.tenant.language = "zh-hans"
    cast.tenant.save()
    happen(cast)
    post()
    assert all(not letter.get_content().startswith("Approver") for letter in office.letters)


def test_a_bad_address_costs_nobody_else_theirs(cast: make.Cast, office: PostOffice) -> None:
    office.refuse.add(cast.ben.email)
    happen(cast)
    post()
    assert [letter["To"] for letter in office.letters] == [cast.mira.email]
    failed = mailed(cast.ben)
    assert failed.status == Notification.Status.FAILED
    assert "refuses this recipient" in failed.last_error
    assert Message.objects.filter(dead_at__isnull=False).count() == 1


def test_later_means_later(cast: make.Cast, office: PostOffice) -> None:
    office.later.add(cast.ben.email)
    happen(cast)
    post()
    assert [letter["To"] for letter in office.letters] == [cast.mira.email]
    assert mailed(cast.ben).status == Notification.Status.PENDING
    office.later.clear()
    due_now()
    post()
    assert len(office.to(cast.ben.email)) == 1
    assert len(office.letters) == 2


def test_b12_letters_of_a_subject_stay_in_order(cast: make.Cast, office: PostOffice) -> None:
    """Guards outbox/notify/spread.py `_spread`: the key of a letter is its person and subject, so it waits for the one before, and
    for nobody else's."""
    office.later.add(cast.ben.email)
    append(topic="thing", key="a", tenant_id=cast.tenant.pk, payload={"n": 1})
    post()
    office.later.clear()
    # The server takes letters again, and the first one is not due yet.
    for n, key in ((2, "a"), (3, "b")):
        append(topic="thing", key=key, tenant_id=cast.tenant.pk, payload={"n": n})
        post()
    assert [letter.get_content().split()[-1] for letter in office.to(cast.ben.email)] == ["3"]
    due_now()
    post()
    due_now()
    post()
    said = [letter.get_content().split()[-1] for letter in office.to(cast.ben.email)]
    assert [n for n in said if n != "3"] == ["1", "2"]
    assert sorted(said) == ["1", "2", "3"]
    assert len(office.to(cast.mira.email)) == 3


def test_a_server_that_hangs_on_one_letter_delays_no_other(cast: make.Cast, office: PostOffice) -> None:
    """Guards EMAIL_TIMEOUT and outbox/consumers/post.py `carry`."""
    office.hang.add(cast.ben.email)
    happen(cast)
    post()
    assert [letter["To"] for letter in office.letters] == [cast.mira.email]
    assert mailed(cast.ben).status == Notification.Status.PENDING


def test_a_server_that_is_away_costs_no_attempt(cast: make.Cast, settings: Any) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = probe.getsockname()
        happen(cast)
        drain(limit=100)
        assert relay(limit=10, lane=MAIL) == 0
    waiting = Message.objects.filter(topic=notify.MAIL_TOPIC)
    assert [row.attempts for row in waiting] == [0, 0]
    assert all("mail server did not answer" in row.last_error for row in waiting)


def test_b88_a_name_of_ten_kilobytes_with_line_ends_is_one_short_line(
    cast: make.Cast, office: PostOffice
) -> None:
    """Guards outbox/consumers/post.py `one_line` where the product itself writes: the note in the page and the mail."""
    endpoint = WebhookEndpoint.everywhere.create(
        tenant=cast.tenant,
        name="a\r\nBcc: x",
        url="https://erp.example/",
        active=False,
        disabled_why="w" * 300,
    )
    topic_payload = {"endpoint_id": endpoint.pk.hex, "name": "n\r\n" * 2500}
    append(topic="webhook.disabled", tenant_id=cast.tenant.pk, payload=topic_payload)
    post()
    (letter,) = office.to(cast.jonas.email)
    assert letter["Bcc"] is None
    for row in Notification.everywhere.filter(user=cast.jonas):
        assert row.subject.isprintable()
        assert len(row.subject) <= 300


@pytest.mark.parametrize(
    "subject", ["one\r\nBcc: evil@example.com", "long " * 3000, "\x00\x1b[31m\u2028red", ""]
)
def test_b88_no_subject_breaks_a_letter_or_its_neighbours(
    subject: str, cast: make.Cast, announcement: Announcement, office: PostOffice
) -> None:
    """Guards outbox/consumers/post.py `one_line`."""
    announcement.subject = subject
    happen(cast)
    post()
    assert len(office.letters) == 2
    for letter in office.letters:
        assert letter["Bcc"] is None
        written = (letter["Subject"] or "").strip()
        assert len(written) <= 150
        assert written.isprintable()


def test_b88_an_international_address_is_written_or_refused_alone(
    cast: make.Cast, office: PostOffice
) -> None:
    User.objects.filter(pk=cast.ben.pk).update(email="ben@bücher.example")
    User.objects.filter(pk=cast.mira.pk).update(email="mirä@linden.example")
    good = make.person(cast.tenant, "approver", name="Good One")
    writers._writers["thing"].people.append(good)  # type: ignore[attr-defined]
    happen(cast)
    post()
    assert len(office.to(good.email)) == 1
    assert len(office.to("ben@xn--bcher-kva.example")) == 1
    assert {row.status for row in Notification.everywhere.filter(user=good)} == {Notification.Status.SENT}
    # This server does not speak SMTPUTF8, and there is no other form of the part before the @.
    unwritable = mailed(cast.mira)
    assert unwritable.status == Notification.Status.FAILED
    assert "cannot be written" in unwritable.last_error


def test_b88_a_letter_that_cannot_be_sent_blocks_and_repeats_no_other(
    cast: make.Cast, announcement: Announcement, office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards outbox/consumers/post.py `carry`: the others of a pass go out, and once each, however often the bad one is
    tried."""
    announcement.people = [cast.ada, cast.ben, cast.mira, cast.jonas]

    def written(payload: Mapping[str, Any], user: User) -> Letter | None:
        if user.pk == cast.ben.pk and written.broken:  # type: ignore[attr-defined]
            raise RuntimeError("a bug in a writer")
        return Letter(user.email, "It happened", "Text.")

    written.broken = False  # type: ignore[attr-defined]
    monkeypatch.setattr(announcement, "letter", written)
    happen(cast)
    drain(limit=100)
    written.broken = True  # type: ignore[attr-defined]
    for _turn in range(3):
        due_now()
        drain(limit=10, lane=MAIL)
    assert sorted(letter["To"] for letter in office.letters) == sorted(
        user.email for user in (cast.ada, cast.mira, cast.jonas)
    )
    written.broken = False  # type: ignore[attr-defined]
    due_now()
    drain(limit=10, lane=MAIL)
    assert len(office.letters) == 4


def test_one_line_keeps_words() -> None:
    assert one_line("  a\r\n b\tc ") == "a b c"
    assert one_line("会签 é") == "会签 é"


def test_what_became_pointless_is_not_sent(
    cast: make.Cast, announcement: Announcement, office: PostOffice
) -> None:
    happen(cast)
    drain(limit=100)
    announcement.pointless = True
    drain(limit=10, lane=MAIL)
    assert office.letters == []
    assert Message.objects.filter(published_at=None).count() == 0


def test_somebody_disabled_meanwhile_gets_nothing(cast: make.Cast, office: PostOffice) -> None:
    happen(cast)
    drain(limit=100)
    User.objects.filter(pk=cast.ben.pk).update(is_active=False)
    drain(limit=10, lane=MAIL)
    assert [letter["To"] for letter in office.letters] == [cast.mira.email]


def test_an_invitation_arrives_with_its_link(cast: make.Cast, office: PostOffice) -> None:
    made = invite(
        tenant_id=cast.tenant.pk, actor_id=cast.jonas.pk, email="nia@new.example", roles=["submitter"]
    )
    post()
    (letter,) = office.letters
    assert letter["To"] == "nia@new.example"
    assert letters.invitation_secret(made.pk) in letter.get_content()
    assert letters.invitation_secret(made.pk) not in str(Message.objects.values_list("payload", flat=True))
