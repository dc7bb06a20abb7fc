"""Shows or sets the terms of a tenant."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Tenant
from runs.models import TenantTerms
from runs.verbs.set_terms import set_terms


class Command(BaseCommand):
    """``manage.py tenant_terms SLUG [--weight 2] [--lease-quota 200] [--retention-days 90]``."""

    help = "Show or set a tenant's share of the workers, its quota, and how long contents are kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--weight", type=float)
        parser.add_argument("--lease-quota", type=int)
        parser.add_argument("--retention-days", type=int)

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        tenant = Tenant.objects.filter(slug=slug).first()
        if tenant is None:
            raise CommandError(f"There is no tenant {slug!r}. Nothing was changed.")
        given = {name: options[name] for name in ("weight", "lease_quota", "retention_days")}
        if any(value is not None and value < 0 for value in given.values()) or given["weight"] == 0:
            raise CommandError("A weight is above 0, the others are not negative. Nothing was changed.")
        if any(value is not None for value in given.values()):
            set_terms(tenant_id=tenant.pk, **given)
        terms = TenantTerms.objects.filter(tenant=tenant).first() or TenantTerms(tenant=tenant)
        for name in given:
            value = getattr(terms, name)
            self.stdout.write(f"{name}: {'the setting' if value is None else value}")
