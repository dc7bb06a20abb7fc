"""Writes the audit chain of a tenant as lines of JSON that ``verify_audit`` checks without a database."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import audit_reads
from accounts.models import Tenant


class Command(BaseCommand):
    """``manage.py export_audit linden [--out FILE]``"""

    help = "Export the audit chain of a tenant, oldest first, with its sealed head at the end."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="slug of the tenant")
        parser.add_argument("--out", default="", help="file; without one, standard output")

    def handle(self, *args: Any, tenant: str, out: str, **options: Any) -> None:
        found = Tenant.objects.filter(slug=tenant).first()
        if found is None:
            raise CommandError(f"There is no tenant {tenant!r}. Nothing was exported.")
        lines = audit_reads.dump(tenant_id=found.pk)
        if not out:
            for line in lines:
                sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            return
        try:
            with Path(out).open("wb") as file:
                for line in lines:
                    file.write(line)
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
        self.stderr.write(f"Exported to {out}.")
