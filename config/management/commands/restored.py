"""Takes the restore of a backup in, after which work goes on. See docs/how-to/restore-a-backup.md."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models.functions import Now

from accounts import origin
from accounts.models import User
from runs.engine.restored import NotAdministrator, restored
from tools.models import WorkerProcess


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
        parser.add_argument(
            "--unnoticed",
            action="store_true",
            help="it was restored in a way that the database itself cannot tell, although processes work on it",
        )

    def handle(
        self, *args: Any, by: str, reason: str, nothing_lost: bool, unnoticed: bool, **options: Any
    ) -> None:
        if not unnoticed and not origin.look().doubt and (heard := _at_work()):
            raise CommandError(
                f"Nothing says that this database was restored, and {heard} worker processes were heard of within a lease. "
                "Nothing was changed. Stop them first, or, if you are sure, say --unnoticed."
            )
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


def _at_work() -> int:
    """How many worker processes were heard of within a lease."""
    fresh = Now() - timedelta(seconds=settings.COUNTERSIGN.lease_seconds)
    return WorkerProcess.objects.filter(kind="main", stopped_at=None, last_seen_at__gt=fresh).count()
