"""Verifies the history of runs: gapless, and every line bound to the one before."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.ids import BadId, parse
from runs import timeline
from runs.models import Run


class Command(BaseCommand):
    """``manage.py verify_runs [run_…]``: without ids, all runs."""

    help = "Verify the event chains of runs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="*", metavar="run_…")

    def handle(self, *args: Any, runs: list[str], **options: Any) -> None:
        try:
            wanted = [parse("run", text) for text in runs]
        except BadId as error:
            raise CommandError(f"{error}. Nothing was verified.") from error
        ids = wanted or list(Run.everywhere.order_by("pk").values_list("pk", flat=True))
        broken = 0
        for run_id in ids:
            if not Run.everywhere.filter(pk=run_id).exists():
                raise CommandError(f"There is no run {run_id}. The rest was not verified.")
            for problem in timeline.verify(run_id):
                broken += 1
                self.stdout.write(f"run_{run_id.hex}: {problem}")
        if broken:
            raise CommandError(f"{broken} problems in {len(ids)} histories.")
        self.stdout.write(f"{len(ids)} histories verified, every one gapless and whole.")
