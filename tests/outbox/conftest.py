"""Fixtures of the post room: a table of routes of one's own, and a real SMTP server with moods."""

from __future__ import annotations

import asyncio
import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from config.embedded.ports import free_port
from outbox import routes


@pytest.fixture
def table() -> Iterator[None]:
    """Topics declared by a test are gone afterwards."""
    before = dict(routes._table.consumers), dict(routes._table.lanes)
    yield
    routes._table.consumers, routes._table.lanes = before


class PostOffice:
    """Keeps every letter, also repeats. ``refuse`` answers 550 to a recipient, ``later`` 451; ``hang`` says nothing
    until the test lets go."""

    def __init__(self) -> None:
        self.letters: list[EmailMessage] = []
        self.refuse: set[str] = set()
        self.later: set[str] = set()
        self.hang: set[str] = set()
        self.stop = asyncio.Event()

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address in self.refuse:
            return "550 no such person"
        if address in self.later:
            return "451 come back later"
        if address in self.hang:
            await self.stop.wait()
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        letter = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert isinstance(letter, EmailMessage)
        self.letters.append(letter)
        return "250 OK"

    def to(self, address: str) -> list[EmailMessage]:
        return [letter for letter in self.letters if letter["To"] == address]


@pytest.fixture
def office(settings: Any) -> Iterator[PostOffice]:
    kept = PostOffice()
    controller = Controller(kept, hostname="127.0.0.1", port=free_port())
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.EMAIL_PORT = controller.port
    settings.EMAIL_TIMEOUT = 1
    yield kept
    controller.loop.call_soon_threadsafe(kept.stop.set)
    controller.stop()
