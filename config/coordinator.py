"""The coordinator: a Celery worker on the queue ``coordination`` whose duties also run from polls of their own, so that a
dead broker or beat stops nothing. Each duty has a thread: one that hangs or fails delays no other."""

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from celery import bootsteps
from django.db import close_old_connections, connection

if TYPE_CHECKING:
    from config.duties import Duty

log = logging.getLogger(__name__)

QUEUE = "coordination"
#: How long a holder may be silent before another coordinator takes the duty over, in seconds.
HELD = 5.0
#: Longest pause after failures in a row, in seconds.
LONGEST_PAUSE = 10.0


class Round(threading.Thread):
    """Does one duty again and again until told to stop."""

    def __init__(self, duty: "Duty") -> None:
        super().__init__(name=f"duty-{duty.name}", daemon=True)
        self.duty = duty
        self.stopping = threading.Event()
        self.failures = 0

    def run(self) -> None:
        from outbox.consumers import hints

        while not self.stopping.is_set():
            self.stopping.wait(self.turn())
        hints.close()
        connection.close()

    def turn(self) -> float:
        """Do the duty once if it is ours; gives the seconds until the next turn."""
        from outbox import duties

        pause = self.duty.every
        try:
            close_old_connections()
            if self.duty.alone and not duties.hold(self.duty.name, self.duty.every + HELD):
                return min(pause, HELD)
            started = time.monotonic()
            done = self.duty.do()
            if self.duty.alone:
                duties.report(self.duty.name, {"done": done, "seconds": round(time.monotonic() - started, 3)})
            self.failures = 0
        except Exception:
            self.failures += 1
            pause = min(LONGEST_PAUSE, max(pause, 0.5) * 2 ** min(self.failures - 1, 10))
            # The first time with everything, then one line: a database that is away for a night fills no disk.
            log.error(
                "duty %s failed (%d in a row), next try in %.1f s",
                self.duty.name,
                self.failures,
                pause,
                exc_info=self.failures == 1,
            )
        finally:
            close_old_connections()
        return pause

    def stop(self) -> None:
        self.stopping.set()


class CoordinatorStep(bootsteps.StartStopStep):  # type: ignore[misc]
    """Starts the rounds in a worker that serves the queue ``coordination``, before it connects to the broker."""

    requires = {"celery.worker.components:Pool"}

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.rounds: list[Round] = []

    def include_if(self, parent: Any) -> bool:
        return QUEUE in parent.app.amqp.queues.consume_from

    def start(self, parent: Any) -> None:
        # Not at import: the Celery app is loaded before Django's apps are.
        from config.duties import DUTIES

        self.rounds = [Round(duty) for duty in DUTIES]
        for one in self.rounds:
            one.start()

    def stop(self, parent: Any) -> None:
        for one in self.rounds:
            one.stop()
        for one in self.rounds:
            one.join(timeout=3)

    terminate = stop
