"""Makes an API token for a person, from the console of the server: for scripts and for the demo."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from accounts import rights, tokens
from accounts.models import TokenScope, User


class Command(BaseCommand):
    """``manage.py issue_token ada@linden.example --scope read --scope submit --name demo``."""

    help = "Make an API token and print it once, as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="console")
        parser.add_argument("--scope", action="append", choices=TokenScope.values, required=True)

    def handle(self, *args: Any, email: str, name: str, scope: list[str], **options: Any) -> None:
        user = User.objects.filter(email=email.lower()).first()
        mine = rights.memberships(user_id=user.pk) if user else []
        if user is None or not mine:
            raise CommandError(f"There is no active member with the address {email}. No token was made.")
        try:
            with transaction.atomic():
                token, plain = tokens.issue(
                    user_id=user.pk, tenant_id=mine[0].tenant_id, name=name, scopes=scope
                )
        except tokens.NotGranted as error:
            raise CommandError(f"{error} No token was made.") from error
        self.stdout.write(json.dumps({"token": plain, "prefix": token.prefix, "scopes": token.scopes}))
