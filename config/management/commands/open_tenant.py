"""Opens a tenant on real servers: its first administrator, and the contracts of the shipped agents."""

import getpass
import sys
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email, validate_slug

from accounts.errors import Refused
from accounts.verbs.open_tenant import open_tenant
from tools.samples import seed


class Command(BaseCommand):
    """``manage.py open_tenant linden "Linden Instruments" ada@linden.example --mail-from …``."""

    help = "Open a tenant with its first administrator. The password is asked for, or read from a pipe."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("name")
        parser.add_argument("email", help="of the first administrator")
        parser.add_argument("--person", default="Administrator", help="their name")
        parser.add_argument("--mail-from", required=True, help="sender of the tenant's mail")
        parser.add_argument("--mail-reply-to", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        password = getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        try:
            validate_slug(options["slug"])
            validate_email(options["email"])
            validate_email(options["mail_from"])
            validate_password(password)
            tenant = open_tenant(
                slug=options["slug"],
                name=options["name"],
                mail_from=options["mail_from"],
                mail_reply_to=options["mail_reply_to"],
                email=options["email"],
                person=options["person"],
                password=password,
            )
        except ValidationError as error:
            raise CommandError(f"{' '.join(error.messages)} Nothing was made.") from error
        except Refused as error:
            raise CommandError(str(error.text)) from error
        seed(tenant, drills=False)
        self.stdout.write(f"{tenant.name} is open; {options['email']} may sign in and invite others.")
