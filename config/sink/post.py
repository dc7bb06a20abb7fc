"""The SMTP side: takes everything, answers 250 once it is on the disk."""

from __future__ import annotations

import asyncio
import logging

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from config.sink.store import Store

log = logging.getLogger(__name__)
LARGEST_MESSAGE = 100_000_000


class Receiver:
    """What aiosmtpd calls for each message."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """The name is aiosmtpd's. The disk is waited for in a thread, so that others can talk meanwhile."""
        peer: tuple[object, ...] = tuple(session.peer or ("unknown", 0))
        try:
            delivery = await asyncio.to_thread(
                self._store.append,
                peer=f"{peer[0]}:{peer[1]}",
                sender=envelope.mail_from or "",
                recipients=list(envelope.rcpt_tos),
                raw=bytes(envelope.original_content or b""),
            )
        except OSError as error:
            log.error("a message was not taken: %s", error)
            return "451 Requested action aborted: the disk refused"
        log.info(
            "delivery %d from %s to %s", delivery.number, delivery.sender, ", ".join(delivery.recipients)
        )
        return f"250 OK: delivery {delivery.number}"


def controller(store: Store, port: int) -> Controller:
    """Listens once `start` is called; port 0 lets the system choose."""
    return Controller(
        Receiver(store),
        hostname="127.0.0.1",
        port=port,
        server_kwargs={
            "data_size_limit": LARGEST_MESSAGE,
            "enable_SMTPUTF8": True,
            "ident": "Countersign sink",
        },
    )
