"""Sockets of live pages: read-only, they only say how far things are. The page fetches the rest.

A client may send ``{"after": n}`` and nothing else. Whatever the channel layer brings is only a bell: what
is sent comes from the tables, read together with the rights of the person, so a lost, doubled or reordered
bell changes nothing but latency, and nothing is told to somebody who lost the right to it (faults B70 to
B72).

Close codes: 4401 signed out, 4403 no longer allowed, 4400 not a message of ours, 4429 too many messages.
"""

import asyncio
import contextlib
import json
import time
import uuid
from typing import Any, NamedTuple

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from accounts import socket_access
from accounts.models import Membership
from accounts.scope import tenant_scope
from accounts.socket_access import Visitor
from approvals import inbox
from outbox.notify import reads
from runs.models import Run
from runs.selectors import events, live

SIGNED_OUT, NOT_ALLOWED, NOT_OURS, TOO_MANY = 4401, 4403, 4400, 4429
#: Rights are read again at least this often, and before every message (seconds).
LOOK_EVERY = 3.0
#: Bells within this time are one look (seconds).
GATHER = 0.1
LONGEST_MESSAGE = 200
MOST_MESSAGES, IN_SECONDS = 20, 10.0


class Frame(NamedTuple):
    """What the frame of every page shows: questions that wait for this person, notes that they have not read, and when the
    newest of those came that may ring on the desktop (milliseconds)."""

    inbox: int
    notes: int
    loud: int


def _frame(membership: Membership) -> Frame:
    user, tenant = membership.user_id, membership.tenant_id
    unread = reads.bell(user_id=user, tenant_id=tenant)
    loud = reads.loudest(user_id=user, tenant_id=tenant) if unread else 0
    return Frame(inbox.count_for(user_id=user, tenant_id=tenant), unread, loud)


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # the library ships no types
    """Base: who may listen, and when to look. Subclasses say what to look at."""

    visitor: Visitor | None = None
    watching: asyncio.Task[None] | None = None

    def groups_of(self, visitor: Visitor) -> list[str]:
        """The groups that ring for this page."""
        return [f"tenant.{visitor.tenant_id.hex}", f"inbox.{visitor.tenant_id.hex}"]

    def allowed(self, membership: Membership) -> bool:
        """Whether this member may see the thing itself; runs in a thread, inside the tenant's scope."""
        return True

    def newest(self, membership: Membership) -> int:
        """How far things are; runs in a thread, inside the tenant's scope. Never falls."""
        raise NotImplementedError

    async def connect(self) -> None:
        """A session, a member, the right thing; else it is refused. The origin was checked before (``config.asgi``)."""
        self.told = -1
        self.shown: Frame | None = None
        self.asked = False
        self.bell = asyncio.Event()
        self.came: list[float] = []
        session = self.scope.get("session")
        self.visitor = await database_sync_to_async(socket_access.enter)(
            getattr(session, "session_key", None)
        )
        if self.visitor is None:
            await self.accept()
            await self.close(code=SIGNED_OUT)
            return
        # Listen first, then look: what happens in between rings.
        for group in self.groups_of(self.visitor):
            await self.channel_layer.group_add(group, self.channel_name)
        if await self._look() is None:
            await self.close()
            return
        await self.accept()
        self.watching = asyncio.create_task(self._watch())

    async def disconnect(self, code: int) -> None:
        """Leaves no task and no subscription behind."""
        if self.watching is not None:
            self.watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.watching
        if self.visitor is not None:
            for group in self.groups_of(self.visitor):
                await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """``{"after": n}``: the client says what it has drawn; the answer is how far things are."""
        if self._too_many():
            await self.close(code=TOO_MANY)
            return
        after = _after(text_data)
        if after is None:
            await self.close(code=NOT_OURS)
            return
        self.told, self.asked = after, True
        self.bell.set()

    async def run_progress(self, message: dict[str, Any]) -> None:
        """A run has new events."""
        self.bell.set()

    async def tenant_progress(self, message: dict[str, Any]) -> None:
        """Some runs of the tenant have new events."""
        self.bell.set()

    async def inbox_progress(self, message: dict[str, Any]) -> None:
        """A question was opened or closed."""
        self.bell.set()

    async def _watch(self) -> None:
        """Look after every bell, and at an interval; say what is new; close when the right is lost."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.bell.wait(), LOOK_EVERY)
            self.bell.clear()
            asked, self.asked = self.asked, False
            found = await self._look()
            if found is None:
                await self.close(code=NOT_ALLOWED if await self._signed_in() else SIGNED_OUT)
                return
            seq, shown = found
            if asked or seq > self.told or shown != self.shown:
                await self.send(text_data=json.dumps({"seq": seq, **shown._asdict()}))
            self.told, self.shown = max(self.told, seq), shown
            await asyncio.sleep(GATHER)

    async def _look(self) -> tuple[int, Frame] | None:
        """How far things are and what the frame shows this person, or None without the right to know."""
        found: tuple[int, Frame] | None = await database_sync_to_async(self._read)()
        return found

    def _read(self) -> tuple[int, Frame] | None:
        assert self.visitor is not None
        membership = socket_access.still(self.visitor)
        if membership is None:
            return None
        with tenant_scope(self.visitor.tenant_id):
            if not self.allowed(membership):
                return None
            return self.newest(membership), _frame(membership)

    async def _signed_in(self) -> bool:
        assert self.visitor is not None
        return await database_sync_to_async(socket_access.enter)(self.visitor.session_key) is not None

    def _too_many(self) -> bool:
        now = time.monotonic()
        self.came = [at for at in self.came if now - at < IN_SECONDS] + [now]
        return len(self.came) > MOST_MESSAGES


class RunConsumer(LiveConsumer):
    """One task."""

    @property
    def run_id(self) -> uuid.UUID:
        found: uuid.UUID = self.scope["url_route"]["kwargs"]["run_id"]
        return found

    def groups_of(self, visitor: Visitor) -> list[str]:
        return [f"run.{self.run_id.hex}", f"inbox.{visitor.tenant_id.hex}"]

    def allowed(self, membership: Membership) -> bool:
        return Run.objects.filter(pk=self.run_id).exists()

    def newest(self, membership: Membership) -> int:
        return events.newest(self.run_id)


class TasksConsumer(LiveConsumer):
    """The list of tasks."""

    def newest(self, membership: Membership) -> int:
        return live.tasks_seq()


class NotesConsumer(LiveConsumer):
    """A page without anything live of its own: only what the frame shows."""

    def groups_of(self, visitor: Visitor) -> list[str]:
        return [f"inbox.{visitor.tenant_id.hex}"]

    def newest(self, membership: Membership) -> int:
        return 0


class InboxConsumer(LiveConsumer):
    """The inbox. What changes there has no common counter, so the number rises whenever the look of it
    changes."""

    seen: tuple[Any, ...] = ()
    number = 0

    def groups_of(self, visitor: Visitor) -> list[str]:
        return [f"inbox.{visitor.tenant_id.hex}"]

    def newest(self, membership: Membership) -> int:
        look = live.inbox_look(membership)
        if look != self.seen:
            self.seen, self.number = look, max(self.number + 1, live.micros())
        return self.number


def _after(text: str | None) -> int | None:
    """The number in ``{"after": n}``; None for anything else."""
    if text is None or len(text) > LONGEST_MESSAGE:
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or set(message) != {"after"}:
        return None
    after = message["after"]
    return after if isinstance(after, int) and not isinstance(after, bool) and after >= 0 else None
