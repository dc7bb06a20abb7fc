"""Takes the restore of a backup in, after which work goes on. See docs/how-to/restore-a-backup.md."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from runs.engine.restored import NotAdministrator, restored


class Command(BaseCommand):
    """``manage.py restored --by jonas@linden.example --reason "Disk failed, backup of 03:00"``."""

    help = (
        "Take a restored database in. By this you attest that every process that worked on the database before the "
        "restore is stopped or cut off from the network."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--by", required=True, help="e-mail address of an administrator")
        parser.add_argument("--reason", required=True)
        parser.add_argument(
            "--nothing-lost",
            action="store_true",
            help="the database was moved or promoted, and no commit was lost",
        )

    def handle(self, *args: Any, by: str, reason: str, nothing_lost: bool, **options: Any) -> None:
        user = User.objects.filter(email=by.lower()).first()
        if user is None:
            raise CommandError(f"There is no person with the address {by}. Nothing was changed.")
        if not reason.strip():
            raise CommandError("Say why the database was restored. Nothing was changed.")
        try:
            done = restored(user_id=user.pk, reason=reason, nothing_lost=nothing_lost)
        except NotAdministrator as error:
            raise CommandError(error.text) from error
        self.stdout.write(
            f"Generation {done.generation}: {done.runs} live tasks taken in, {done.effects} effects are unknown now and "
            "wait for a person. Work goes on."
        )
