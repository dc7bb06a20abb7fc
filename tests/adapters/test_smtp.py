"""What only mail has: codes, where exactly the moment of the effect lies, and what goes over the wire."""

from __future__ import annotations

import hashlib
import socket
import threading

import pytest

from tests.adapters.calls import Call, Context, Go
from tests.adapters.far_sides import MailServer, Scripted
from tools.adapters import get, smtp
from tools.adapters.base import Failed, Unknown

LETTER = {"to": "ann@aldergate.example", "subject": "Notice", "text": "Dear Ann\n"}


@pytest.fixture
def call(mail_server: MailServer) -> Call:
    return Call("smtp", mail_server, {}, dict(LETTER), lambda: len(mail_server.taken))


REFUSALS = [
    ("MAIL", "451 busy", "smtp_try_later"),
    ("MAIL", "550 not you", "smtp_refused"),
    ("RCPT", "450 greylisted, try again", "smtp_try_later"),
    ("RCPT", "550 no such person", "smtp_refused"),
    ("DATA", "452 full", "smtp_try_later"),
    ("DATA", "554 no", "smtp_refused"),
]


@pytest.mark.parametrize(("at", "reply", "code"), REFUSALS)
def test_a_refusal_before_the_dot_is_known_not_to_have_happened(call: Call, at, reply, code):
    call.far.replies[at] = reply
    with pytest.raises(Failed) as failed:
        call()
    assert failed.value.code == code
    assert reply[:3] in failed.value.text
    assert "Nothing was sent" in failed.value.text
    assert call.count() == 0


@pytest.mark.parametrize(("reply", "code"), [("451 later", "smtp_try_later"), ("554 spam", "smtp_refused")])
def test_a_refusal_of_the_dot_is_known_not_to_have_happened(call: Call, reply, code):
    call.far.replies["DOT"] = reply
    with pytest.raises(Failed) as failed:
        call()
    assert failed.value.code == code


@pytest.mark.parametrize("reply", ["354 what?", "199 hm", "250", "250 queued as 9"])
def test_only_a_code_of_success_is_a_success(call: Call, reply):
    call.far.replies["DOT"] = reply
    if reply.startswith("250"):
        assert call().output["server"].startswith("250")
    else:
        with pytest.raises(Unknown):
            call()


def test_the_message_id_comes_from_the_key_alone(call: Call):
    first = call(go=Go(key="tenant:lineage:notice:mail.send", fence=1))
    second = call(go=Go(key="tenant:lineage:notice:mail.send", fence=2))
    names = [letter["Message-ID"] for letter in call.far.letters]
    assert names[0] == names[1] == first.output["message_id"] == second.output["message_id"]
    assert names[0].endswith("@linden.example>")
    assert "lineage" not in names[0]
    assert [letter["X-Countersign-Fence"] for letter in call.far.letters] == ["1", "2"]
    assert first.reference.startswith(names[0])


def attachment(data: bytes, **changes):
    return {"name": "report.bin", "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), **changes}


def test_attachments_come_from_the_store_and_are_checked(call: Call):
    data = b"\x00report\r\n.\r\n" * 1000
    part = attachment(data)
    call.arguments["attachments"] = [part]
    call(ctx=Context(files={part["sha256"]: data}))
    assert [one.get_content() for one in call.far.letters[0].iter_attachments()] == [data]


@pytest.mark.parametrize("stored", [b"other", b"report!", b"repors", None])
def test_b52_an_attachment_that_is_not_the_approved_one_is_not_sent(call: Call, stored):
    """Guards ``tools/adapters/smtp.py`` (``_file``): size and checksum of what is read are those of the arguments, which
    the approval's digest covers."""
    part = attachment(b"report")
    call.arguments["attachments"] = [part]
    with pytest.raises(Failed) as failed:
        call(ctx=Context(files={} if stored is None else {part["sha256"]: stored}))
    assert failed.value.code in ("attachment_missing", "attachment_changed")
    assert call.count() == 0


def test_an_address_that_needs_utf8_is_sent_where_the_server_takes_it(call: Call):
    call.arguments["to"] = "jörg@bücher.example"
    call()
    assert "jörg@xn--bcher-kva.example" in str(call.far.letters[0]["To"])


def test_mail_is_only_sent_after_begin(call: Call):
    prepared = smtp.prepare({}, LETTER, call.tenant)
    with pytest.raises(Failed, match="begin"):
        smtp.send(prepared, None, Context())
    assert call.count() == 0


@pytest.mark.parametrize("url", ["", "http://x.example", "smtp://", "smtp://x:notaport"])
def test_without_a_mail_server_nothing_is_sent(call: Call, url, monkeypatch):
    monkeypatch.setenv("EMAIL_URL", url)
    with pytest.raises(Failed) as failed:
        call()
    assert failed.value.code == "no_mail_server"


def test_addresses_of_servers():
    assert smtp.server("smtp+tls://a%40b:p%3Aw@mail.example") == smtp.Server(
        "mail.example", 587, "a@b", "p:w", tls=True
    )
    assert smtp.server("smtps://mail.example:466") == smtp.Server("mail.example", 466, ssl=True)


def test_encryption_that_is_asked_for_and_not_offered_stops_the_mail(call: Call, monkeypatch):
    monkeypatch.setenv("EMAIL_URL", call.far.url.replace("smtp://", "smtp+tls://ben:secret@"))
    with pytest.raises(Failed) as failed:
        call()
    assert failed.value.code == "smtp_no_tls"
    assert call.count() == 0


def test_there_is_no_adapter_of_that_name():
    with pytest.raises(Failed) as failed:
        get("pigeon")
    assert failed.value.code == "adapter_missing"


class Dialogue:
    """A mail server on the bare socket that talks up to a point and then does as it likes."""

    def __init__(self, *, greeting: bytes = b"220 hi\r\n", after_data=None) -> None:
        self.greeting, self.after_data = greeting, after_data
        self.received = b""
        self.done = threading.Event()

    def __call__(self, sock: socket.socket) -> None:
        sock.sendall(self.greeting)
        lines = sock.makefile("rb")
        for line in lines:
            if line.upper().startswith(b"DATA"):
                sock.sendall(b"354 go\r\n")
                if self.after_data:
                    self.after_data(sock, lines)
                self.done.set()
                return
            sock.sendall(b"250 ok\r\n")


def against(script, monkeypatch, *, text: str = "Dear Ann\n", seconds: float = 3.0, patience: float = 0):
    """The outcome of one send to a scripted server; ``patience`` is the step's limit when it is not that of go."""
    server = Scripted(script)
    monkeypatch.setenv("EMAIL_URL", server.url)
    tenant = {"name": "Linden", "mail_from": "desk@linden.example"}
    try:
        return smtp.send(
            smtp.prepare({}, {**LETTER, "text": text}, tenant),
            Go(seconds=seconds),
            Context(seconds_left=patience or seconds),
        )
    finally:
        server.stop()


@pytest.mark.parametrize("greeting", [b"554 go away\r\n", b"421 later\r\n", b"nonsense\r\n", b"\x00\xff\r\n"])
def test_a_server_that_does_not_greet_gets_nothing(monkeypatch, greeting):
    with pytest.raises(Failed):
        against(Dialogue(greeting=greeting), monkeypatch)


def test_a_server_that_never_greets_is_left_in_time(monkeypatch):
    with pytest.raises(Failed) as failed:
        against(Dialogue(greeting=b""), monkeypatch, seconds=0.5)
    assert failed.value.code == "deadline"


def test_b67_a_connection_that_breaks_before_the_dot_is_known_not_to_have_happened(monkeypatch):
    """Guards ``tools/adapters/smtp.py`` (``body``): the server hung up in the middle of the message; it never saw the
    dot, because the dot is a send of its own."""

    def hang_up(sock: socket.socket, lines) -> None:
        sock.recv(10)
        sock.shutdown(socket.SHUT_RDWR)
        sock.close()

    with pytest.raises(Failed) as failed:
        against(Dialogue(after_data=hang_up), monkeypatch, text="x" * 60 + "\n" + "long line\n" * 900_000)
    assert failed.value.code in ("connection_lost", "deadline")


def test_the_dot_is_not_sent_when_the_time_has_passed_meanwhile(monkeypatch):
    """The last look at the lease lies between the message and its dot."""
    seen: list[bytes] = []

    def watch(sock: socket.socket, lines) -> None:
        seen.extend(lines)

    class Losing(Context):
        looks = 0

        @property
        def lost(self) -> bool:
            return True

        @lost.setter
        def lost(self, value: bool) -> None:
            pass

    server = Scripted(Dialogue(after_data=watch))
    monkeypatch.setenv("EMAIL_URL", server.url)
    prepared = smtp.prepare({}, LETTER, {"name": "L", "mail_from": "desk@linden.example"})
    with pytest.raises(Failed) as failed:
        smtp.send(prepared, Go(), Losing())
    server.stop()
    assert failed.value.code == "too_late"
    assert b".\r\n" not in seen


def test_the_answer_may_take_longer_than_the_permission_to_send(monkeypatch):
    """Begin bounds when the letter may be handed over; how long its answer is waited for is the step's limit."""

    def think(sock: socket.socket, lines) -> None:
        while lines.readline() != b".\r\n":
            pass
        threading.Event().wait(1.5)
        sock.sendall(b"250 after some thought\r\n")

    answer = against(Dialogue(after_data=think), monkeypatch, seconds=1.0, patience=20.0)
    assert answer.output["server"] == "250 after some thought"


def test_a_message_of_dots_cannot_end_itself(call: Call):
    call.arguments["text"] = ".\n..\nRCPT TO:<eve@evil.example>\n.\n"
    call()
    assert call.count() == 1
    assert call.far.letters[0].get_content().replace("\r\n", "\n") == ".\n..\nRCPT TO:<eve@evil.example>\n.\n"


def test_a_flood_instead_of_an_answer_is_unknown(monkeypatch):
    def flood(sock: socket.socket, lines) -> None:
        while lines.readline() != b".\r\n":
            pass
        while True:
            sock.sendall(b"250-more and more\r\n" * 1000)

    with pytest.raises(Unknown):
        against(Dialogue(after_data=flood), monkeypatch, seconds=10)


def test_a_private_mail_server_is_reached_because_it_is_the_installations_own(call: Call):
    call.spec["egress"] = ["api.example.org"]
    assert call().reference
