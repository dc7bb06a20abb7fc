"""Which Celery task a topic of the outbox rings, and what beat rings. Names only: a bell carries no work.

A topic that stands in no row is told to nobody but webhooks. Every bell may be lost, late or repeated: the poll
of the same duty finds in the database whatever it missed.
"""

from __future__ import annotations

from typing import Any, Final

# topic → tasks
ROUTES: Final[dict[str, tuple[str, ...]]] = {
    "step.ready": ("runs.wake",),
    "decision.recorded": ("runs.resume",),
}

# On a node's solo worker a long task would hold up everything: only these may go there.
WAKE_UPS: Final = ("runs.wake",)

# Seconds between two rings of beat. An expired ring is dropped, so that a broker that was away does not
# bring a burst.
RINGS: Final[dict[str, float]] = {
    # To the nodes: that one hears it proves that the way through the broker works, from end to end.
    "runs.wake": 5.0,
    "outbox.relay": 5.0,
    "runs.resume": 5.0,
}


def beat_schedule() -> dict[str, dict[str, Any]]:
    return {
        name: {"task": name, "schedule": seconds, "options": {"expires": seconds}}
        for name, seconds in RINGS.items()
    }
