"""What the coordinators do from their own polls, and how often."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings
from django.utils.module_loading import import_string

from outbox import relay, sweep
from outbox.routes import CHAT, MAIL, PROMPT

#: Few at a time: a server that hangs on each letter must not outlast the time for which they are hidden.
LETTERS: Final = 10
#: As many as are sent side by side.
CHATS: Final = 10


@dataclass(frozen=True, slots=True)
class Duty:
    """Work that comes round ``every`` so many seconds. ``alone``: one coordinator of all does it, elected; else each
    does, because row locks share the work out. ``do`` gives how much it did."""

    name: str
    every: float
    do: Callable[[], int]
    alone: bool = True


def _engine(path: str) -> Callable[[], int]:
    """A function of the engine, looked up when it is called: this file is read before the apps are ready."""
    return lambda: int(import_string(path)() or 0)


def _origin() -> int:
    """Each coordinator compares the database with what its own folder remembers of it."""
    from accounts.origin import Witness

    return int(bool(Witness(Path(settings.DATA_DIR)).check().doubt))


def _deliver() -> int:
    return relay.drain(limit=settings.COUNTERSIGN.relay_batch, lane=PROMPT)


def _webhooks() -> int:
    from outbox.webhooks import courier

    return courier.deliver()


def _mail() -> int:
    return relay.relay(limit=LETTERS, lane=MAIL)


def _chat() -> int:
    return relay.relay(limit=CHATS, lane=CHAT)


DUTIES: Final = (
    Duty("relay", 0.2, _deliver, alone=False),
    Duty("mail", 0.5, _mail, alone=False),
    Duty("chat", 0.5, _chat, alone=False),
    Duty("digests", 30.0, _engine("outbox.notify.digests.make_digests")),
    Duty("webhooks", 0.2, _webhooks, alone=False),
    Duty("resume", 1.0, _engine("runs.engine.resume.resume_decided")),
    Duty("expire", 1.0, _engine("runs.engine.expire.expire_due")),
    Duty("undecidable", 2.0, _engine("runs.engine.chase.look")),
    Duty("remind", 5.0, _engine("runs.engine.chase.remind")),
    Duty("escalate", 5.0, _engine("runs.engine.chase.escalate")),
    Duty("sample", 600.0, _engine("runs.engine.sample.draw")),
    Duty("waits", 1.0, _engine("runs.engine.timers.end_waits")),
    Duty("stranded", 5.0, _engine("runs.engine.stranded.tell_stranded")),
    Duty("ask_due", 2.0, _engine("runs.engine.heard.ask_due")),
    Duty("unblock", 2.0, _engine("runs.engine.unblock.unblock")),
    Duty("let_in", 2.0, _engine("runs.engine.let_in.let_in")),
    Duty("reclaim", 1.0, _engine("runs.engine.reclaim.reclaim")),
    Duty("withhold", 2.0, _engine("runs.engine.withhold.tell")),
    Duty("origin", 5.0, _origin, alone=False),
    Duty("deadlines", 2.0, _engine("runs.engine.deadlines.stop_overdue")),
    Duty("orphans", 10.0, _engine("runs.engine.orphans.sweep")),
    Duty("watchdog", 15.0, _engine("runs.engine.watchdog.watch")),
    Duty("tally", 5.0, _engine("runs.tallies.count_history")),
    Duty("tidy", 3600.0, _engine("runs.blobs.storage.tidy")),
    Duty("audit-heads", 60.0, _engine("accounts.heads.export")),
    Duty("sweep", 3600.0, sweep.sweep),
    Duty("retention", 600.0, _engine("runs.engine.retention.erase_due")),
    Duty("months", 3600.0, _engine("runs.engine.partitions.make_months")),
)
