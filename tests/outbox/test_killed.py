"""A relay that is really killed, with SIGKILL, between telling and noting."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import redis
from django.conf import settings
from django.db import connection

from outbox.append import append
from outbox.models import Message
from tests.needs import ROOT
from tests.outbox.test_relay import due_now

pytestmark = [pytest.mark.crash, pytest.mark.django_db(transaction=True)]
QUEUE = "countersign:execution"
RELAY = "import django; django.setup(); from outbox.relay import drain; print(drain(limit=10))"


@pytest.fixture
def broker(broker_url: str) -> Iterator[redis.Redis]:
    """A database of the broker that no node listens to."""
    with redis.Redis.from_url(own(broker_url)) as client:
        client.delete(QUEUE)
        yield client
        client.delete(QUEUE)


def own(url: str) -> str:
    return urlsplit(url)._replace(path="/14").geturl()


def relay_elsewhere(**env: str) -> subprocess.CompletedProcess[str]:
    """One round of the relay in a process of its own, on this test's database."""
    at = connection.settings_dict
    url = f"postgresql://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}/{at['NAME']}"
    given = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings", **env}
    given["SECRET_KEY"] = settings.SECRET_KEY
    given["BROKER_URL"] = given["CHANNEL_URL"] = own(settings.CELERY_BROKER_URL)
    return subprocess.run(
        [sys.executable, "-c", RELAY],
        env=given,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_b12_what_a_killed_relay_had_told_is_told_again(broker: redis.Redis) -> None:
    """Guards the order in outbox/relay.py `_pass`: told first, noted afterwards."""
    append(topic="step.ready", payload={"run_id": "a", "step_id": "b", "attempt": 1})
    killed = relay_elsewhere(COUNTERSIGN_FAILPOINTS="outbox.told=kill")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert broker.llen(QUEUE) == 1
    assert Message.objects.get().published_at is None

    due_now()
    second = relay_elsewhere()
    assert second.stdout.strip() == "1", second.stderr
    assert broker.llen(QUEUE) == 2
    assert Message.objects.get().published_at is not None
