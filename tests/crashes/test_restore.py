"""The restore drill with a real PostgreSQL: a base backup, work after it, the backup put back. What happened in the lost time
is asked, and nothing is sent a second time."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from accounts import audit, origin
from accounts.models import Role
from accounts.origin import OTHER_TIMELINE, SET_BACK, Witness
from config.embedded.ports import free_port
from config.embedded.postgres import Postgres, binaries
from runs import timeline
from runs.engine.resume import resume_decided
from runs.engine.types import Claimed, Go
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.runs.engine.test_effects import Story, answered
from tests.runs.node import real
from tests.tools import make
from tools.models import Intent, WorkerProcess

pytestmark = [pytest.mark.crash, pytest.mark.django_db(transaction=True), pytest.mark.timeout(400)]


def base_backup(folder: Path) -> None:
    """As an administrator makes one: `pg_basebackup`, with the log that belongs to it."""
    given = connection.settings_dict
    where = ["-h", str(given["HOST"]), "-p", str(given["PORT"]), "-U", str(given["USER"])]
    command = [
        str(binaries() / "pg_basebackup"),
        *where,
        "-D",
        str(folder),
        "-X",
        "stream",
        "--checkpoint=fast",
    ]
    made = subprocess.run(
        command,
        env={"PGPASSWORD": str(given["PASSWORD"]), "PATH": os.defpath, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr


@contextmanager
def put_back(folder: Path, how: str) -> Iterator[None]:
    """The backup as a running server, and this process connected to it instead of to the first."""
    (folder / "backup").rename(folder / "cluster")
    if how == "recovered":
        (folder / "cluster" / "recovery.signal").touch()
    given = connection.settings_dict
    server = Postgres(folder / "cluster", free_port(), given["PASSWORD"], folder / "postgres.log")
    server.settings.update({"fsync": "off", "restore_command": "false", "max_connections": "300"})
    if server.runner:
        for path in (server.cluster, *server.cluster.rglob("*")):
            os.chown(path, server.runner.uid, server.runner.gid)
    running = server.start()
    first = given["PORT"]
    try:
        server.wait(running)
        connection.close()
        given["PORT"] = str(server.port)
        real.until(_writable, what="the recovery has ended")
        yield
    finally:
        connection.close()
        given["PORT"] = first
        running.send_signal(signal.SIGINT)
        running.wait(30)


def _writable() -> bool:
    """It answers before its recovery has ended."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT NOT pg_is_in_recovery()")
        return bool(cursor.fetchone()[0])


class World:
    """Mail that was really sent, by idempotency key."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, story: Story, claimed: Claimed) -> Go:
        go = story.begin(claimed)
        assert isinstance(go, Go)
        self.sent.append(go.key)
        return go


@pytest.mark.parametrize(("how", "why"), [("recovered", OTHER_TIMELINE), ("as it was", SET_BACK)])
def test_what_was_sent_after_the_backup_is_not_sent_again(tmp_path: Path, how: str, why: str) -> None:
    """Guards accounts/origin.py and runs/engine/restored.py, once with a new timeline and once with the very same one, which
    only the file outside the database betrays. Two mails were sent after the backup: one was approved before it, the other
    was not even planned."""
    tmp_path.chmod(0o711)
    world, witness = World(), Witness(tmp_path)
    origin.look()
    story = Story()
    jonas = make.person(story.tenant, Role.ADMINISTRATOR, name="Jonas")
    planned_later = hands.counter_run(story.tenant, story.submitter, steps=1, tool="drill.effect_final")
    story.decide("approve")
    base_backup(tmp_path / "backup")

    # The time that is lost: both effects happen.
    for claimed in hands.take(story.me):
        if claimed.intent_id is None:
            hands.put(story.me, hands.done(claimed))
        else:
            hands.put(story.me, answered(claimed, world.send(story, claimed)))
    other = Story.__new__(Story)
    other.__dict__ |= {**story.__dict__, "run_id": planned_later.pk}
    if other.step.status == "WAITING_APPROVAL":
        other.decide("approve")
    (claimed,) = [one for one in hands.take(story.me) if one.intent_id]
    hands.put(story.me, answered(claimed, world.send(other, claimed)))
    assert len(set(world.sent)) == 2
    assert witness.check().doubt == ""

    with put_back(tmp_path, how):
        assert (story.intent.status, Intent.everywhere.filter(run_id=planned_later.pk).count()) == (
            "AUTHORISED",
            0,
        )
        assert witness.check().doubt == why
        assert hands.take(story.me) == []
        said = StringIO()
        call_command("restored", "--by", jonas.email, "--reason", "The disk failed.", stdout=said)
        assert "2 live tasks taken in, 1 effects are unknown" in said.getvalue()
        assert (story.step.status, story.run.status) == ("UNKNOWN", "WAITING_APPROVAL")
        hands.put(story.me, *[hands.done(one) for one in hands.take(story.me)])
        assert (other.step.status, other.intent.status) == ("UNKNOWN", "UNKNOWN")
        assert hands.take(story.me) == []
        WorkerProcess.objects.filter(node="before-restore-1").update(stopped_at="2020-01-01T00:00:00Z")
        for each in (story, other):
            each.decide("happened", kind="settle", reference=secrets.token_hex(4))
        resume_decided()
        story.finish()
        assert set(Run.everywhere.values_list("status", flat=True)) == {"SUCCEEDED"}
        assert set(Step.everywhere.filter(kind="call").values_list("status", flat=True)) == {"SUCCEEDED"}
        assert [timeline.verify(each.run_id) for each in (story, other)] == [[], []]
        assert audit.verify(tenant_id=story.tenant.pk) == []
        assert witness.check().doubt == ""
    assert len(world.sent) == 2
