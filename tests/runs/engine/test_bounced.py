"""Reports of mail servers about letters: evidence of the effect, once, and no decision."""

from __future__ import annotations

import contextlib
import io
import sys
from email.message import EmailMessage

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import AuditEntry, Role, TokenScope
from accounts.tokens import issue
from approvals import present, shown
from runs import timeline
from runs.engine.bounced import take
from runs.engine.types import Outcome
from runs.models import Event
from tests.runs.engine import hands
from tests.runs.engine.test_effects import Story
from tests.tools import make
from tools import bounces
from tools.adapters import smtp

pytestmark = pytest.mark.django_db(transaction=True)

STATUS = """Reporting-MTA: dns; mx.halden.example\r
\r
Final-Recipient: rfc822; legal@halden.example\r
Action: {action}\r
Status: {status}\r
Diagnostic-Code: smtp; {text}\r
"""


def report(
    message_id: str, *, action: str = "failed", status: str = "5.1.1", text: str = "550 no such user",
    whole: bool = True, own: str = "<dsn-1@mx.halden.example>",
) -> bytes:  # fmt: skip
    """A delivery status notification as mail servers write it. ``whole``: with the returned letter, else with its headers."""
    back = f"From: desk@linden.example\r\nMessage-ID: {message_id}\r\nSubject: Notice\r\n\r\n"
    back += "We do not renew.\r\n" if whole else ""
    kind = "message/rfc822" if whole else "text/rfc822-headers"
    about = STATUS.format(action=action, status=status, text=text)
    return (
        f"From: MAILER-DAEMON@mx.halden.example\r\nTo: desk@linden.example\r\nMessage-ID: {own}\r\n"
        "Subject: Undelivered Mail\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n'
        "--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n"
        f"--b\r\nContent-Type: message/delivery-status\r\n\r\n{about}\r\n"
        f"--b\r\nContent-Type: {kind}\r\n\r\n{back}\r\n--b--\r\n"
    ).encode()


@pytest.fixture
def story() -> Story:
    return Story()


def letter(story: Story) -> str:
    return smtp.message_id(story.intent.key, "linden.example")


def lost(story: Story) -> None:
    claimed, go = story.sent()
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))


def bounced(story: Story) -> list[dict[str, object]]:
    return [item for item in story.intent.evidence if item.get("kind") == "bounce"]


@pytest.mark.parametrize("whole", [True, False])
def test_a_bounce_is_evidence_of_an_open_outcome_and_decides_nothing(story, whole):
    lost(story)
    (taken,) = take(data=report(letter(story), whole=whole), channel="pipe")
    assert (taken.what, taken.action, taken.recipient) == ("recorded", "failed", "legal@halden.example")
    assert (story.intent.status, story.step.status) == ("UNKNOWN", "UNKNOWN")
    (item,) = bounced(story)
    assert (item["status"], item["text"]) == ("5.1.1", "smtp; 550 no such user")
    assert Event.everywhere.filter(run_id=story.run_id, type="effect.bounced").count() == 1
    assert timeline.verify(story.run_id) == []
    page = present.known(story.action("settle"), story.approver.pk)
    assert any("not delivered to legal@halden.example" in check.word for check in page.checks)


def test_the_same_report_again_changes_nothing_and_another_one_is_kept_too(story):
    """Guards runs/engine/bounced.py `_take`: pipes deliver twice."""
    lost(story)
    first = report(letter(story))
    later = b"Received: from relay by mx; Mon, 30 Nov 2026 23:00:00 +0000\r\n" + first
    assert [one.what for one in take(data=first, channel="pipe")] == ["recorded"]
    assert [one.what for one in take(data=later, channel="pipe")] == ["repeated"]
    other = report(letter(story), action="delayed", status="4.4.1", own="<dsn-2@mx.halden.example>")
    assert [one.what for one in take(data=other, channel="pipe")] == ["recorded"]
    assert [item["action"] for item in bounced(story)] == ["failed", "delayed"]


def test_a_confirmed_letter_stays_confirmed_and_its_card_says_what_came_later(story):
    """The task has ended: its history is closed, the evidence and the audit trail are not."""
    claimed, go = story.sent()
    answer = {"message_id": letter(story), "server": "250 ok"}
    hands.put(story.me, Outcome(claimed, "succeeded", answer, dispatch_id=go.dispatch_id, reference="x"))
    story.finish()
    assert story.run.status == "SUCCEEDED"
    (taken,) = take(data=report(letter(story)), channel="pipe")
    assert taken.what == "recorded"
    assert (story.intent.status, story.run.status) == ("CONFIRMED", "SUCCEEDED")
    assert timeline.verify(story.run_id) == []
    assert AuditEntry.everywhere.filter(act="intent.bounced", run_id=story.run_id).count() == 1
    action = story.action()
    card = present.after(action, shown.read(action.shown), story.approver.pk)
    assert any(fact.label == "Not delivered" and "550 no such user" in fact.value for fact in card.record)


def test_a_message_id_that_was_never_sent_is_answered_clearly(story):
    assert [one.what for one in take(data=report(letter(story)), channel="pipe")] == ["not_ours"]
    strange = report(f"<{'0' * 40}@linden.example>")
    assert [one.what for one in take(data=strange, channel="pipe")] == ["not_ours"]
    assert bounced(story) == []


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "no_report"),
        (b"Subject: hello\r\n\r\nNo report.", "no_report"),
        (report("<somebody-elses@id.example>"), "no_letter"),
        (
            report(f"<{'a' * 40}@x.example>").replace(b"Final-Recipient", b"X-A").replace(b"Action", b"X-B"),
            "no_recipient",
        ),
        (b"a" * (bounces.MOST_BYTES + 1), "too_large"),
    ],
)
def test_what_is_no_usable_report_is_refused_with_a_code(data, code):
    with pytest.raises(bounces.NoReport) as refused:
        bounces.read(data)
    assert refused.value.code == code


@given(st.binary(max_size=600), st.integers(0, 700), st.integers(0, 60))
def test_no_bytes_break_the_reader(noise, at, cut):
    base = report(f"<{'a' * 40}@linden.example>")
    with contextlib.suppress(bounces.NoReport):
        bounces.read(base[:at] + noise + base[at + cut :])


def test_text_that_cannot_be_stored_is_written_out(story):
    lost(story)
    data = report(letter(story), text="550 bad \x00 byte")
    assert [one.what for one in take(data=data, channel="pipe")] == ["recorded"]
    assert "\x00" not in str(bounced(story)[0]["text"])


def test_the_mail_pipe_and_the_rest_endpoint_take_the_same_message(story, client, monkeypatch, tmp_path):
    lost(story)
    data = report(letter(story))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    out = io.StringIO()
    call_command("take_bounce", stdout=out)
    assert "Recorded as evidence" in out.getvalue()
    person = make.person(story.tenant, Role.SUBMITTER)
    _, plain = issue(user_id=person.pk, tenant_id=story.tenant.pk, name="mail", scopes=[TokenScope.BOUNCES])
    head = {"Authorization": f"Bearer {plain}"}
    answer = client.post("/api/v1/bounces/", data, content_type="message/rfc822", headers=head)
    assert (answer.status_code, answer.json()["results"][0]["taken"]) == (200, "repeated")
    refused = client.post("/api/v1/bounces/", b"hello", content_type="message/rfc822", headers=head)
    assert (refused.status_code, refused.json()["code"]) == (422, "no_report")
    big = client.post(
        "/api/v1/bounces/", b"a" * (bounces.MOST_BYTES + 1), content_type="message/rfc822", headers=head
    )
    assert big.status_code == 413
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hello")))
    with pytest.raises(CommandError, match="Nothing was recorded"):
        call_command("take_bounce", stdout=out)


def test_a_token_of_another_tenant_reaches_no_letter_of_this_one(story, client):
    """Guards runs/engine/bounced.py: the tenant of the token is asked for."""
    lost(story)
    other = make.tenant("aldergate")
    otto = make.person(other, Role.SUBMITTER)
    _, plain = issue(user_id=otto.pk, tenant_id=other.pk, name="mail", scopes=[TokenScope.BOUNCES])
    _, reading = issue(user_id=otto.pk, tenant_id=other.pk, name="read", scopes=[TokenScope.READ])
    for token, status in ((plain, 200), (reading, 403)):
        answer = client.post(
            "/api/v1/bounces/",
            report(letter(story)),
            content_type="message/rfc822",
            headers={"Authorization": f"Bearer {token}"},
        )
        assert answer.status_code == status
    assert bounced(story) == []


def test_an_out_of_office_answer_is_no_report():
    said = EmailMessage()
    said["In-Reply-To"] = f"<{'a' * 40}@linden.example>"
    said.set_content("I am away.")
    with pytest.raises(bounces.NoReport, match="no delivery status"):
        bounces.read(said.as_bytes())
