"""The courier: takes due deliveries, sends each once, notes what came of it. Many at a time, few of one endpoint, so that a
far side that hangs holds up nobody else. The threads only talk to the world; the database is the caller's alone."""

import json
import logging
import time
import uuid
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.canonical import canonical
from accounts.failpoints import fp
from accounts.statements import run
from outbox.webhooks import events, secrets, signing
from outbox.webhooks.record import Try, record
from outbox.webhooks.way import Answer, NotTaken, out

log = logging.getLogger(__name__)

#: Deliveries under way at a time: in all, and to one endpoint.
SLOTS = 16
EACH = 4
#: Seconds for which a delivery under way is hidden; longer than the way out may take.
HIDDEN = 60.0
#: Seconds that a turn waits for those under way before it looks again.
GLANCE = 0.05


@dataclass(frozen=True, slots=True)
class Parcel:
    """A delivery as it was taken."""

    id: uuid.UUID
    tenant_id: uuid.UUID
    endpoint_id: uuid.UUID
    event_id: uuid.UUID
    type: str
    data: dict[str, Any]
    attempt: int
    url: str
    sealed: tuple[bytes, ...]
    at: datetime


class Courier:
    """One of a process. ``turn`` is called again and again by one thread."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(SLOTS, thread_name_prefix="courier")
        self._under_way: dict[Future[Try], uuid.UUID] = {}

    def turn(self) -> int:
        """Takes what is due until nothing more is, and notes what has come back; gives how many were taken by their
        endpoints. Does not wait for the slow ones: they are noted by a later turn."""
        done = 0
        while True:
            started = self._start()
            if self._under_way:
                wait(self._under_way, timeout=GLANCE, return_when=FIRST_COMPLETED)
            finished, taken = self._collect()
            done += taken
            if not started and not finished:
                return done

    def close(self) -> None:
        """Waits for those under way, and notes them."""
        self._pool.shutdown(wait=True)
        self._collect()

    def _start(self) -> int:
        free = SLOTS - len(self._under_way)
        if not free:
            return 0
        busy = [one for one, count in Counter(self._under_way.values()).items() if count >= EACH]
        parcels = _claim(free, busy)
        for parcel in parcels:
            self._under_way[self._pool.submit(send, parcel)] = parcel.endpoint_id
        return len(parcels)

    def _collect(self) -> tuple[int, int]:
        """How many have come back, and how many of them were taken."""
        finished = [future for future in self._under_way if future.done()]
        taken = 0
        for future in finished:
            del self._under_way[future]
            one = future.result()
            fp("webhook.sent")
            taken += record(one) and one.taken
        return len(finished), taken


def send(parcel: Parcel) -> Try:
    """One attempt. Whatever goes wrong is in what it gives."""
    started = time.monotonic()
    answer: Answer | None = None
    error = ""
    try:
        body = canonical(events.document(parcel.event_id, parcel.type, parcel.data))
        headers = signing.headers(
            message_id=events.public_id(parcel.event_id),
            at=parcel.at,
            body=body,
            secrets=secrets.opened(parcel.tenant_id, parcel.sealed),
        )
        answer = out().post(parcel.url, headers, body)
    except (NotTaken, secrets.Sealed) as failed:
        error = str(failed)
    except Exception as failed:
        log.exception("delivery %s was not sent", parcel.id)
        error = f"It was not sent: {type(failed).__name__}."
    return Try(
        delivery_id=parcel.id,
        tenant_id=parcel.tenant_id,
        endpoint_id=parcel.endpoint_id,
        attempt=parcel.attempt,
        milliseconds=round((time.monotonic() - started) * 1000),
        status=answer.status if answer else None,
        answer=answer.text if answer else "",
        error=error,
        retry_after=answer.retry_after if answer else 0.0,
    )


def _claim(limit: int, busy: list[uuid.UUID]) -> list[Parcel]:
    given = {"limit": limit, "each": EACH, "busy": busy, "hidden": HIDDEN}
    rows = run("outbox", "claim_deliveries", given)
    found = [
        Parcel(pk, tenant, endpoint, event, name, _object(data), attempt, url, tuple(sealed), at)
        for pk, tenant, endpoint, event, name, data, attempt, url, sealed, at in rows
    ]
    return sorted(found, key=lambda parcel: parcel.event_id)


def _object(data: object) -> dict[str, Any]:
    found = json.loads(data) if isinstance(data, str) else data
    return found if isinstance(found, dict) else {}


def deliver() -> int:
    """A turn of this process's courier."""
    if not _courier:
        _courier.append(Courier())
    return _courier[0].turn()


_courier: list[Courier] = []
