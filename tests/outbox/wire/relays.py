"""``python -m tests.outbox.wire.relays``: what a coordinator does for the post room, until it is killed: relay, mail, webhooks.
Short waits, so that a test need not wait for what a killed one had taken."""

from __future__ import annotations

import time

import django

PAUSE = 0.02


def main() -> None:
    django.setup()
    from outbox import relay
    from outbox.routes import MAIL, PROMPT
    from outbox.webhooks import courier, record

    relay.HIDDEN.update({PROMPT: 1.0, MAIL: 3.0})
    relay.WAITS.update({PROMPT: (0.05, 0.5), MAIL: (0.05, 0.5)})
    courier.HIDDEN = 3.0
    record.WAITS = (0.05,) * len(record.WAITS)
    print("up", flush=True)
    while True:
        # Few at a time: then a kill falls in the middle of something.
        relay.relay(limit=5)
        relay.relay(limit=3, lane=MAIL)
        courier.deliver()
        time.sleep(PAUSE)


if __name__ == "__main__":
    main()
