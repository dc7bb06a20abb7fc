"""Sets a credential of a tool from the console. The value is read from standard input: a command line is readable to all."""

import getpass
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import rights
from accounts.errors import Refused
from accounts.models import Role, User
from tools import vault


class Command(BaseCommand):
    """``manage.py set_secret crm --by jonas@linden.example < key.txt``."""

    help = "Set or replace a credential of a tool; contracts name it. It is never shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--by", required=True, help="e-mail address of the administrator")
        parser.add_argument("--forget", action="store_true", help="delete it instead")

    def handle(self, *args: Any, name: str, by: str, forget: bool, **options: Any) -> None:
        user = User.objects.filter(email=by.lower()).first()
        mine = rights.memberships(user_id=user.pk) if user else []
        if user is None or not mine or Role.ADMINISTRATOR not in mine[0].roles:
            raise CommandError(f"{by} is no administrator here. Nothing was kept.")
        tenant = mine[0].tenant_id
        if forget:
            try:
                deleted = vault.forget(tenant_id=tenant, name=name, by=user.pk, channel="console")
            except Refused as refused:
                raise CommandError(str(refused.text)) from refused
            if not deleted:
                raise CommandError(f"There is no secret called {name!r}. Nothing was deleted.")
            self.stdout.write(f"The secret {name!r} is deleted.")
            return
        value = getpass.getpass("Value: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
        try:
            vault.keep(tenant_id=tenant, name=name, value=value, by=user.pk, channel="console")
        except Refused as refused:
            raise CommandError(str(refused.text)) from refused
        self.stdout.write(f"The secret {name!r} is kept.")
