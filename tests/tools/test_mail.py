"""One letter for the preview and for the bytes. No database."""

from __future__ import annotations

import email
import hashlib
from datetime import UTC, datetime
from email.policy import default
from typing import Any

import pytest

from accounts.models import Tenant
from tests.tools import make
from tools import mail, previews

LINDEN = {
    "name": "Linden Instruments",
    "mail_from": "desk@linden.example",
    "mail_reply_to": "ada@linden.example",
}
LETTER = {"to": "ann@aldergate.example", "subject": "Notice", "text": "Dear Ann\n"}


def letter(tenant: dict[str, str] | None = None, **changes: Any) -> mail.Letter:
    return mail.letter({**LETTER, **changes}, {**LINDEN, **(tenant or {})})


def parsed(of: mail.Letter, files: dict[str, bytes] | None = None) -> Any:
    made = mail.message(of, message_id="<x@y.example>", fence=7, now=datetime.now(UTC), files=files or {})
    return email.message_from_bytes(made.as_bytes(), policy=default)


INJECTIONS = [
    {"to": "ann@aldergate.example\r\nBcc: eve@evil.example"},
    {"to": "ann@aldergate.example, eve@evil.example"},
    {"to": "ann@aldergate.example eve@evil.example"},
    {"to": "<ann@aldergate.example>"},
    {"to": "Ann <ann@aldergate.example>"},
    {"to": '"ann@evil.example"@aldergate.example'},
    {"to": "ann@aldergate.example>\r\nRCPT TO:<eve@evil.example"},
    {"to": "ann"},
    {"to": "@aldergate.example"},
    {"to": "ann@"},
    {"to": "ann@-.example"},
    {"to": "ann@[127.0.0.1]"},
    {"to": "a..b@aldergate.example"},
    {"to": "ann@aldergate.example\x00"},
    {"to": ["ann@aldergate.example"]},
    {"to": ""},
    {"to": "a" * 65 + "@aldergate.example"},
    {"subject": "Notice\r\nBcc: eve@evil.example"},
    {"subject": "Notice\nX: y"},
    {"subject": "Notice\u2028X"},
    {"subject": "Notice\x85X"},
    {"subject": "half \ud800"},
    {"subject": " "},
    {"text": "a\x00b"},
    {"text": "half \ud800"},
    {"text": ""},
]


@pytest.mark.parametrize("changes", INJECTIONS)
def test_what_makes_no_letter_is_refused(changes):
    with pytest.raises(mail.BadLetter) as bad:
        letter(**changes)
    assert bad.value.where == next(iter(changes))


@pytest.mark.parametrize(
    "tenant", [{"mail_from": "x\r\ny@linden.example"}, {"name": "Linden\r\nBcc: e@e.example"}]
)
def test_the_name_of_a_tenant_makes_no_header(tenant):
    with pytest.raises(mail.BadLetter):
        letter(tenant)


def test_the_headers_are_those_that_were_shown():
    shown = letter(subject="Grüße, “Ann” 通知")
    found = parsed(shown)
    assert str(found["From"]) == "Linden Instruments <desk@linden.example>"
    assert str(found["Reply-To"]) == "ada@linden.example"
    assert str(found["To"]) == "ann@aldergate.example"
    assert str(found["Subject"]) == "Grüße, “Ann” 通知"
    assert found["Message-ID"] == "<x@y.example>"
    assert found["X-Countersign-Fence"] == "7"
    assert abs((found["Date"].datetime - datetime.now(UTC)).total_seconds()) < 60
    assert found["Bcc"] is None


def test_without_an_address_for_answers_there_is_no_such_header():
    assert parsed(letter({"mail_reply_to": ""}))["Reply-To"] is None


@pytest.mark.parametrize(
    "text", ["Dear Ann\n.\n..\nBye\n", "Grüße\n" + "ü" * 2000 + "\n", "x" * 5000 + "\n", "a\tb\n"]
)
def test_the_text_arrives_sign_by_sign(text):
    assert parsed(letter(text=text)).get_content().replace("\r\n", "\n") == text


def test_line_ends_of_other_systems_become_one_kind():
    assert letter(text="a\r\nb\rc").text == "a\nb\nc\n"


def test_a_domain_beyond_ascii_goes_out_in_its_network_form():
    shown = letter(to="ann@bücher.example")
    assert shown.to == "ann@bücher.example"
    assert mail.ascii_address(shown.to, "to") == "ann@xn--bcher-kva.example"
    assert parsed(shown)["To"].addresses[0].domain == "xn--bcher-kva.example"
    assert not mail.needs_utf8(shown)
    assert mail.needs_utf8(letter(to="jörg@bücher.example"))


def test_attachments_arrive_byte_by_byte_under_their_names():
    data = bytes(range(256)) * 10
    digest = hashlib.sha256(data).hexdigest()
    part = {"name": "Überblick 通知.bin", "size": len(data), "sha256": digest}
    found = list(parsed(letter(attachments=[part]), {digest: data}).iter_attachments())
    assert [(one.get_filename(), one.get_content()) for one in found] == [("Überblick 通知.bin", data)]


BAD_ATTACHMENTS = [
    "x",
    [1],
    [{"name": "../x", "size": 1, "sha256": "0" * 64}],
    [{"name": "a\\b", "size": 1, "sha256": "0" * 64}],
    [{"name": "x\r\ny", "size": 1, "sha256": "0" * 64}],
    [{"name": "x", "size": -1, "sha256": "0" * 64}],
    [{"name": "x", "size": True, "sha256": "0" * 64}],
    [{"name": "x", "size": 1, "sha256": "0" * 63}],
    [{"name": "x", "size": 1, "sha256": "../../" + "0" * 58}],
    [
        {"name": "x", "size": mail.MAX_ATTACHMENT_BYTES, "sha256": "0" * 64},
        {"name": "y", "size": 1, "sha256": "1" * 64},
    ],
]


@pytest.mark.parametrize("given", BAD_ATTACHMENTS)
def test_what_makes_no_attachment_is_refused(given):
    with pytest.raises(mail.BadLetter) as bad:
        letter(attachments=given)
    assert bad.value.where == "attachments"


@pytest.mark.parametrize(
    "kind", ["message/rfc822", "multipart/mixed", "text/html; x=y", "nonsense", "a/b\r\nX: y"]
)
def test_a_kind_of_file_never_changes_the_shape_of_the_letter(kind):
    data = b"abc"
    digest = hashlib.sha256(data).hexdigest()
    part = {"name": "x", "size": 3, "sha256": digest, "media_type": kind}
    made = letter(attachments=[part])
    assert made.attachments[0].media_type == "application/octet-stream"
    assert [one.get_content() for one in parsed(made, {digest: data}).iter_attachments()] == [data]


def test_the_preview_is_the_letter():
    contract = make.unsaved(adapter="smtp", isolation="thread", tool_name="mail.send")
    tenant = Tenant(slug="linden", **LINDEN)
    part = {"name": "report.pdf", "size": 3, "sha256": "a" * 64, "media_type": "application/pdf"}
    arguments = {**LETTER, "attachments": [part]}
    shown = previews.render(contract=contract, arguments=arguments, tenant=tenant)
    sent = mail.letter(arguments, previews.tenant_facts(tenant))
    assert (shown["to"], shown["subject"], shown["text"]) == (sent.to, sent.subject, sent.text)
    assert shown["from"] == "Linden Instruments <desk@linden.example>"
    assert shown["reply_to"] == "ada@linden.example"
    assert shown["attachments"] == [part]
    assert "ann@aldergate.example" in shown["sentence"]


def test_the_target_of_a_mail_is_its_address_whatever_is_said_beside_it():
    contract = make.unsaved(adapter="smtp", isolation="thread")
    assert (
        previews.target_for(contract=contract, arguments=LETTER, proposed="ben@linden.example")
        == LETTER["to"]
    )
    assert previews.target_for(contract=make.unsaved(), arguments={}, proposed="ledger 7") == "ledger 7"
    assert previews.target_for(contract=make.unsaved(), arguments={}) == "drill.effect_final"


def test_a_preview_never_raises():
    contract = make.unsaved(adapter="smtp", isolation="thread")
    shown = previews.render(contract=contract, arguments={"to": 7}, tenant=Tenant(slug="x", name="X"))
    assert shown["kind"] == "request"
