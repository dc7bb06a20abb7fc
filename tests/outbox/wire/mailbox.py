"""``python -m tests.outbox.wire.mailbox FILE``: a mail server that writes what it took, one JSON line each, before it answers.
It prints its port. Knows nothing of the product."""

from __future__ import annotations

import email
import email.policy
import json
import sys
import threading
from typing import Any

from aiosmtpd.controller import Controller

from config.embedded.ports import free_port


def main(file: str) -> None:
    log = open(file, "a", buffering=1)  # noqa: SIM115, PTH123 - until the process ends

    class Box:
        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
            letter = email.message_from_bytes(envelope.content, policy=email.policy.default)
            line = {"id": letter["Message-ID"], "to": letter["To"], "subject": letter["Subject"]}
            log.write(json.dumps(line) + "\n")
            return "250 OK"

    controller = Controller(Box(), hostname="127.0.0.1", port=free_port())
    controller.start()
    print(controller.port, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1])
