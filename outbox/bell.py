"""The bell: tells the nodes that there is something to do now, instead of at their next poll. A lost bell costs latency,
never truth. Every verb joins the caller's transaction and rings with its commit."""

import uuid
from typing import Final

from django.db import connection

#: Nodes listen here. What is said is one of the words below, or the hexadecimal id of a run that wants to stop.
CHANNEL: Final = "countersign_node"
READY: Final = "ready"
DECIDED: Final = "decided"
FREED: Final = "freed"


def ring(word: str = READY) -> None:
    """``ready``: steps may be claimable · ``decided``: a question was answered · ``freed``: a resource, whose
    next effect may begin. Equal rings of one transaction are one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, word])


def ring_stop(run_id: uuid.UUID) -> None:
    """Steps of a run should stop: the nodes look which of theirs."""
    ring(run_id.hex)
