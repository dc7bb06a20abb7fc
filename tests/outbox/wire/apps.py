"""Declares the topic ``letter.wire`` in the relays of this test: one letter each, in order of its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.apps import AppConfig


class WireConfig(AppConfig):
    """Ready after the product's own apps."""

    name = "tests.outbox.wire"
    label = "wire"

    def ready(self) -> None:
        from accounts.letters import Letter
        from outbox.consumers import post
        from outbox.routes import MAIL, Consumer, Delivery, declare

        def write(delivery: Delivery) -> tuple[Letter, str]:
            return Letter(
                "reader@wire.example", str(delivery.payload["code"]), "Text."
            ), delivery.event_id.hex

        def tell(deliveries: Sequence[Delivery]) -> Mapping[Any, Exception]:
            return post.carry(deliveries, write)

        declare("letter.wire", [Consumer("wire", tell)], lane=MAIL)
