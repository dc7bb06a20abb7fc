"""Declares the topic ``wire`` in the relays of this test: one note each to one person, in order of its key."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

if TYPE_CHECKING:
    from accounts.letters import Letter
    from accounts.models import User


class Wire:
    """A writer, as a room above would register it."""

    kinds = ("waits_for_me",)

    def kind_of(self, payload: Mapping[str, Any], user: User | None) -> str:
        return "waits_for_me"

    def path(self, payload: Mapping[str, Any]) -> str:
        return "/"

    def recipients(self, payload: Mapping[str, Any]) -> list[User]:
        from accounts.models import User

        return [User.objects.get(pk=uuid.UUID(payload["user_id"]))]

    def letter(self, payload: Mapping[str, Any], user: User) -> Letter:
        from accounts.letters import Letter

        return Letter(user.email, str(payload["code"]), "Text.")


class WireConfig(AppConfig):
    """Ready after the product's own apps."""

    name = "tests.outbox.wire"
    label = "wire"

    def ready(self) -> None:
        from outbox import notify
        from outbox.routes import declare

        declare("wire", [notify.NOTES])
        notify.register("wire", Wire())
