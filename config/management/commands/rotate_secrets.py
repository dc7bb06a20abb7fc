"""Encrypts credentials of tools, secrets of webhooks and addresses of chats anew with the first of ``VAULT_KEYS``."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from outbox.chat import secrets as chat_secrets
from outbox.verbs.reseal_chats import reseal_chats
from outbox.verbs.reseal_webhooks import reseal_webhooks
from outbox.webhooks import secrets
from tools import vault


class Command(BaseCommand):
    """``manage.py rotate_secrets``; may be stopped and run again."""

    help = "Encrypt credentials of tools, secrets of webhooks and addresses of chats anew with the first of VAULT_KEYS."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = vault.rotate() + reseal_webhooks() + reseal_chats()
        except (vault.Sealed, secrets.Sealed, chat_secrets.Sealed) as sealed:
            raise CommandError(f"{sealed} Put the old key back at the end of VAULT_KEYS.") from sealed
        self.stdout.write(f"{done} secrets are encrypted with the first key.")
