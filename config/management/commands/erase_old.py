"""Erases contents of tasks that ended longer ago than they are kept."""

from typing import Any

from django.core.management.base import BaseCommand

from runs.engine.retention import erase_due


class Command(BaseCommand):
    """``manage.py erase_old``: until nothing is due. See docs/how-to/retention.md."""

    help = "Erase contents of tasks that ended longer ago than they are kept."

    def handle(self, *args: Any, **options: Any) -> None:
        done = 0
        while found := erase_due():
            done += found
        self.stdout.write(f"{done} tasks and files erased.")
