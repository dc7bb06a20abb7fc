"""Make the sample tenants, people and contracts of a house with servers of its own."""

import ipaddress
import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts import samples
from tools.samples import seed as seed_contracts


class Command(BaseCommand):
    """Idempotent: what exists is left as it is. The last line printed is a JSON list of the accounts."""

    help = (
        "Make sample tenants, people and contracts; only with embedded servers. Prints the accounts as JSON."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_elsewhere(embedded=settings.EMBEDDED, host=settings.DATABASES["default"]["HOST"])
        for tenant in samples.seed():
            seed_contracts(tenant)
        self.stdout.write(json.dumps(samples.accounts(), ensure_ascii=False))


def refuse_elsewhere(*, embedded: bool, host: str) -> None:
    """The passwords of the samples are known to everybody: they may exist only where nobody else can connect."""
    if not embedded or not _is_here(host):
        raise CommandError(
            "Sample accounts have passwords that everybody knows, so they are made only with the embedded "
            "servers of `make up`. Nothing was made. Start `make up` without DATABASE_URL, or invite real people."
        )


def _is_here(host: str) -> bool:
    if host.startswith("/") or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
