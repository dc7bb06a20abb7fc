"""An administrator's word that a process cannot send any more, from the console of the server."""

import uuid
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from tools.attest import attest_gone
from tools.errors import CannotAttest
from tools.models import WorkerProcess


class Command(BaseCommand):
    """``manage.py attest_gone WORKER --by jonas@linden.example --reason "power cut in rack 4"``; without a worker it lists
    those that are not known to be gone."""

    help = "Attest that a worker process is killed or cut off, so that what waits for it goes on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("worker", nargs="?", help="the id of the process, as the list shows it")
        parser.add_argument("--by", metavar="EMAIL", default="", help="the administrator who attests it")
        parser.add_argument("--reason", default="", help="how it is known")

    def handle(self, *args: Any, worker: str | None, by: str, reason: str, **options: Any) -> None:
        if worker is None:
            self._list()
            return
        user = User.objects.filter(email=by.lower()).first()
        if user is None:
            raise CommandError(
                f"There is no person with the address {by or '(none given)'}. Nothing was recorded."
            )
        try:
            gone = attest_gone(worker_id=uuid.UUID(worker), user_id=user.pk, reason=reason, channel="console")
        except (CannotAttest, ValueError) as error:
            raise CommandError(f"{error} Nothing was recorded.") from error
        self.stdout.write(
            f"Recorded: process {gone.pid} of {gone.host} is gone. Its steps are free at the next poll; what it may have "
            "sent waits for the quiet time of its contract."
        )

    def _list(self) -> None:
        alive = WorkerProcess.objects.filter(stopped_at__isnull=True, kind=WorkerProcess.Kind.MAIN)
        for row in alive.order_by("last_seen_at"):
            self.stdout.write(
                f"{row.pk}  {row.host}  pid {row.pid}  last heard of {row.last_seen_at:%Y-%m-%d %H:%M:%S} UTC"
            )
        self.stdout.write(f"{alive.count()} processes are not known to be gone.")
