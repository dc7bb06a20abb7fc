"""Checks an exported audit chain. Needs AUDIT_KEYS, and no database."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.chain import Keyring, verify_dump


class Command(BaseCommand):
    """``manage.py verify_audit DUMP [--heads FILE]``; ends with 1 when something is wrong."""

    help = (
        "Verify an exported audit chain: edited, deleted, added and moved entries, and a tail that was cut."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dump", help="file that export_audit wrote")
        parser.add_argument("--heads", default="", help="heads that were exported before (audit-heads.jsonl)")

    def handle(self, *args: Any, dump: str, heads: str, **options: Any) -> None:
        ring = Keyring.of(settings.AUDIT_KEYS, str(settings.SECRET_KEY))
        try:
            with ExitStack() as stack:
                lines = stack.enter_context(Path(dump).open("rb"))
                before = stack.enter_context(Path(heads).open("rb")) if heads else ()
                found = verify_dump(lines, ring, heads=before)
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
        for problem in found.problems:
            self.stdout.write(problem)
        if found.problems:
            raise CommandError(f"{len(found.problems)} problems in {found.entries} entries.")
        against = (
            "and against the heads that were exported before" if heads else "but against no earlier heads"
        )
        self.stdout.write(f"{found.entries} entries verified, every one whole and in its place, {against}.")
