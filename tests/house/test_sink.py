"""The mail sink counts every delivery and forgets none; a wrong count here would prove nothing elsewhere."""

from __future__ import annotations

import json
import signal
import smtplib
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

from config.embedded.ports import free_port
from config.sink.letter import counts, parse, read
from config.sink.store import Store
from tests.house.houses import wait_until
from tests.needs import ROOT


class Sink:
    """The program, as `make up` runs it."""

    def __init__(self, store: Path) -> None:
        self.store, self.smtp, self.http = store, free_port(), free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        ports = [f"--smtp={self.smtp}", f"--http={self.http}"]
        command = [sys.executable, "-m", "config.sink", *ports, f"--store={self.store}"]
        self.process = subprocess.Popen(command, cwd=ROOT)
        wait_until(self.answers, 30)

    def answers(self) -> bool:
        try:
            return self.get("/messages.json") is not None
        except OSError:
            return False

    def get(self, path: str) -> tuple[str, dict[str, str]]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=5) as response:
            return response.read().decode(), dict(response.headers)

    def messages(self) -> dict[str, object]:
        content: dict[str, object] = json.loads(self.get("/messages.json")[0])
        return content

    def stop(self, sig: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(sig)
            self.process.wait(10)
            self.process = None


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[Sink]:
    made = Sink(tmp_path / "sink.jsonl")
    made.start()
    yield made
    made.stop()


def mail(
    subject: str = "Notice", message_id: str = "<notice.1@linden.example>", body: str = "Dear Sir,\n"
) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "contracts@linden.example", "legal@halden.example"
    message["Subject"], message["Message-ID"] = subject, message_id
    message.set_content(body)
    message.add_attachment(b"%PDF-1.7", maintype="application", subtype="pdf", filename="Nötice.pdf")
    return message


def send(sink: Sink, *messages: EmailMessage) -> None:
    with smtplib.SMTP("127.0.0.1", sink.smtp) as client:
        for message in messages:
            client.send_message(message)


@pytest.mark.slow
def test_every_delivery_counts_also_the_second_of_the_same_mail(sink: Sink) -> None:
    send(sink, mail(), mail(), mail("Other", "<other@linden.example>"))
    said = sink.messages()
    assert said["count"] == 3
    rows = said["messages"]
    assert isinstance(rows, list)
    assert [row["times_by_id"] for row in rows] == [2, 2, 1]
    assert rows[0]["attachments"][0]["name"] == "Nötice.pdf"
    page, headers = sink.get("/1")
    assert "2 times" in page
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "<script>" not in page
    assert sink.get("/1/0")[1]["Content-Disposition"].startswith("attachment")


@pytest.mark.slow
@pytest.mark.crash
def test_a_mail_that_was_answered_survives_a_kill(sink: Sink) -> None:
    send(sink, mail())
    sink.stop(signal.SIGKILL)
    with sink.store.open("ab") as file:
        file.write(b'{"number": 2, "at": "cut of')
    sink.start()
    send(sink, mail("After", "<after@linden.example>"))
    rows = sink.messages()["messages"]
    assert isinstance(rows, list)
    assert [(row["number"], row["subject"]) for row in rows] == [(1, "Notice"), (2, "After")]


@pytest.mark.slow
def test_hostile_mail_is_shown_as_text_and_strange_paths_are_404(sink: Sink) -> None:
    send(sink, mail("<script>alert(1)</script>", body="<img src=x onerror=alert(1)>\n"))
    page, _ = sink.get("/1")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    for path in ("/2", "/1/9", "/none", "/1/0/2", "/99999999999999999999"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            sink.get(path)
        assert refused.value.code == 404


def test_the_digest_is_of_what_a_reader_sees(tmp_path: Path) -> None:
    store = Store(tmp_path / "sink.jsonl")
    for message in (mail(), mail(message_id="<notice.2@linden.example>"), mail(body="Dear Madam,\n")):
        store.append(peer="p", sender="s", recipients=["r"], raw=message.as_bytes())
    first, second, third = store.all()
    assert read(first).digest == read(second).digest != read(third).digest
    assert counts(store.all()) == {1: (2, 2), 2: (1, 2), 3: (2, 1)}
    store.close()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"no header at all",
        b"From: =?utf-8?q?=FF?=\r\nSubject: \xff\xfe\r\n\r\n\xff",
        b"Content-Type: text/plain; charset=nonsense\r\n\r\nhello",
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n",
        b"Message-ID: <>\r\nTo: ,,;\r\n\r\n",
    ],
)
def test_odd_mail_is_shown_as_far_as_it_can_be(raw: bytes) -> None:
    assert len(parse(raw).digest) == 64
