"""The way out, whole: events of several subjects leave through relays that are killed again and again. A webhook receiver and
a mail server, processes of their own, see each at least once, in order for each subject, with good signatures."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction

from accounts import ids
from config.embedded import process
from outbox.append import append
from outbox.models import Message, WebhookDelivery
from outbox.verbs.open_webhook import open_webhook
from tests.make import people
from tests.needs import ROOT
from tests.runs.node.real import database_url, until

pytestmark = [pytest.mark.crash, pytest.mark.django_db(transaction=True), pytest.mark.timeout(280)]
SUBJECTS = 4


@dataclass
class Outside:
    """Processes of one test, and what the two receivers have written."""

    folder: Path
    stack: ExitStack
    env: dict[str, str] = field(default_factory=dict)
    relays: list[subprocess.Popen[bytes]] = field(default_factory=list)
    killed: int = 0

    def start(self, module: str, *words: str) -> subprocess.Popen[bytes]:
        log = self.stack.enter_context((self.folder / f"{ids.new_id().hex}.log").open("wb"))
        started = process.start(
            (sys.executable, "-m", f"tests.outbox.wire.{module}", *words),
            env={**os.environ, **self.env},
            death=signal.SIGKILL,
            output=log,
            cwd=str(ROOT),
        )
        started.said = Path(log.name)  # type: ignore[attr-defined]
        self.stack.callback(self.end, started)
        return started

    def said(self, one: Any) -> str:
        text: str = until(one.said.read_text, seconds=90, what="a process says that it is there")
        return text.split(maxsplit=1)[0]

    def end(self, one: subprocess.Popen[bytes]) -> None:
        if one.poll() is None:
            one.kill()
        one.wait()

    def kill_one(self) -> None:
        """The oldest relay, with SIGKILL; another takes its place."""
        oldest = self.relays.pop(0)
        assert oldest.poll() is None, "a relay ended by itself"
        oldest.kill()
        assert oldest.wait() == -signal.SIGKILL
        self.killed += 1
        self.relays.append(self.start("relays"))

    def took(self, name: str) -> list[dict[str, Any]]:
        file = self.folder / name
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@contextmanager
def outside(folder: Path) -> Iterator[Outside]:
    with ExitStack() as stack:
        yield Outside(folder, stack)


def tell(cast: people.Cast, numbers: range) -> list[str]:
    """For each number one event of each subject: a webhook that says it, and a letter through the notes to people."""
    made = []
    for number in numbers:
        for subject in range(SUBJECTS):
            with transaction.atomic():
                payload = {"code": f"{subject}/{number}"}
                event = append(
                    topic="alert.raised", key=f"s{subject}", tenant_id=cast.tenant.pk, payload=payload
                )
                append(
                    topic="wire",
                    key=f"m{subject}",
                    tenant_id=cast.tenant.pk,
                    payload={**payload, "user_id": cast.ben.pk},
                )
            made.append(f"evt_{event.hex}")
    return made


def in_order(codes: list[str], numbers: range) -> None:
    """Each subject's codes, first sight of each: complete and in order."""
    for subject in range(SUBJECTS):
        seen = list(dict.fromkeys(code for code in codes if code.startswith(f"{subject}/")))
        assert seen == [f"{subject}/{number}" for number in numbers]


def story(folder: Path, monkeypatch: pytest.MonkeyPatch, *, rounds: int, kills: int) -> Outside:
    cast = people.cast()
    with outside(folder) as out:
        box = out.start("mailbox", str(folder / "mails"))
        mail_port = out.said(box)
        out.env = {
            "DATABASE_URL": database_url(),
            "DATABASE_POOL": "0",
            "EMAIL_URL": f"smtp://127.0.0.1:{mail_port}",
            "SECRET_KEY": settings.SECRET_KEY,
            "BROKER_URL": "redis://127.0.0.1:1/0",
            "CHANNEL_URL": "",
            "COUNTERSIGN_WEBHOOK_HOSTS": "127.0.0.1",
            "DJANGO_SETTINGS_MODULE": "tests.outbox.wire.house",
        }
        monkeypatch.setattr(
            settings, "COUNTERSIGN", settings.COUNTERSIGN.model_copy(update={"webhook_hosts": "127.0.0.1"})
        )
        endpoint, secret = open_webhook(
            tenant_id=cast.tenant.pk, by=cast.jonas.pk, name="Wire", url="http://127.0.0.1:1/hook"
        )
        hook = out.start("hook", str(folder / "hooks"), secret)
        type(endpoint).everywhere.update(url=f"http://127.0.0.1:{out.said(hook)}/hook")
        out.relays = [out.start("relays"), out.start("relays")]
        for one in out.relays:
            out.said(one)
        told = tell(cast, range(rounds))
        every = SUBJECTS * rounds
        for number in range(1, kills + 1):
            until(lambda n=number: len(out.took("hooks")) + len(out.took("mails")) > n * every // kills // 2, seconds=90, what="the next kill is due")  # type: ignore[misc]  # fmt: skip
            out.kill_one()
        until(lambda: not Message.objects.filter(published_at=None).exists(), seconds=120, what="all is told")
        waiting = WebhookDelivery.everywhere.filter(delivered_at=None)
        until(lambda: not waiting.exists(), seconds=120, what="all is delivered")
        hooks, mails = out.took("hooks"), out.took("mails")
        assert out.killed == kills
        assert all(one["good"] for one in hooks)
        assert {one["id"] for one in hooks} == set(told)
        in_order([one["event"]["data"]["code"] for one in hooks], range(rounds))
        in_order([one["subject"] for one in mails], range(rounds))
        assert not Message.objects.filter(dead_at__isnull=False).exists()
        return out


def test_b12_receivers_see_each_message_in_order_under_killed_relays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards outbox/relay.py and outbox/webhooks/courier.py: noted only after it was told."""
    story(tmp_path, monkeypatch, rounds=8, kills=2)


@pytest.mark.drills
@pytest.mark.timeout(900)
def test_receivers_see_each_message_in_order_under_many_killed_relays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story(tmp_path, monkeypatch, rounds=60, kills=12)
