"""Shows or sets the terms of a tenant."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.errors import Refused
from accounts.models import Tenant, User
from accounts.verbs.set_escalation_owner import set_escalation_owner
from runs.models import TenantTerms
from runs.verbs.set_terms import set_terms


class Command(BaseCommand):
    """``manage.py tenant_terms SLUG [--weight 2] [--lease-quota 200] [--retention-days 90]
    [--coverage-floor 80] [--escalation-owner ADDRESS]``."""

    help = (
        "Show or set a tenant's share of the workers, its quota, how long contents are kept, and below how many percent of "
        "reversible coverage a person is asked, and who gets what nobody else can decide."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--weight", type=float)
        parser.add_argument("--lease-quota", type=int)
        parser.add_argument("--retention-days", type=int)
        parser.add_argument("--coverage-floor", type=int, help="percent; 0 for none")
        parser.add_argument("--escalation-owner", help="address of a member; none: every administrator")

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        tenant = Tenant.objects.filter(slug=slug).first()
        if tenant is None:
            raise CommandError(f"There is no tenant {slug!r}. Nothing was changed.")
        given = {
            name: options[name] for name in ("weight", "lease_quota", "retention_days", "coverage_floor")
        }
        if any(value is not None and value < 0 for value in given.values()) or given["weight"] == 0:
            raise CommandError("A weight is above 0, the others are not negative. Nothing was changed.")
        if (given["coverage_floor"] or 0) > 100:
            raise CommandError("A floor is at most 100 percent. Nothing was changed.")
        if any(value is not None for value in given.values()):
            set_terms(tenant_id=tenant.pk, **given)
        if options["escalation_owner"] is not None:
            self._owner(tenant, options["escalation_owner"])
        terms = TenantTerms.objects.filter(tenant=tenant).first() or TenantTerms(tenant=tenant)
        for name in ("weight", "lease_quota", "retention_days"):
            value = getattr(terms, name)
            self.stdout.write(f"{name}: {'the setting' if value is None else value}")
        tenant.refresh_from_db(fields=["coverage_floor", "escalation_owner"])
        self.stdout.write(f"coverage_floor: {tenant.coverage_floor or 'none'}")
        owner = tenant.escalation_owner
        self.stdout.write(f"escalation_owner: {owner.email if owner else 'every administrator'}")

    def _owner(self, tenant: Tenant, address: str) -> None:
        found = None if address == "none" else User.objects.filter(email__iexact=address).first()
        if found is None and address != "none":
            raise CommandError(f"There is no person {address!r}. The escalation owner was not changed.")
        try:
            set_escalation_owner(
                tenant_id=tenant.pk,
                owner_id=found.pk if found else None,
                actor_id=None,
                channel="console",
            )
        except Refused as refusal:
            raise CommandError(str(refusal.text)) from refusal
