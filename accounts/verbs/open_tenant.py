"""Open a tenant with its first administrator: from the server's console, since nobody in it can act yet."""

from django.db import transaction

from accounts import audit
from accounts.errors import Refused
from accounts.models import Membership, Role, Tenant, User


def open_tenant(
    *, slug: str, name: str, mail_from: str, email: str, person: str, password: str, mail_reply_to: str = ""
) -> Tenant:
    """Owns its transaction. A slug in use is refused; an address in use joins with the password it has."""
    with transaction.atomic(durable=True):
        tenant, made = Tenant.objects.get_or_create(
            slug=slug, defaults={"name": name, "mail_from": mail_from, "mail_reply_to": mail_reply_to}
        )
        if not made:
            raise Refused("slug_taken", "A tenant of this short name exists. Nothing was made.", field="slug")
        user = User.objects.filter(email=email.strip().lower()).first()
        if user is None:
            user = User.objects.create_user(email.strip(), password, name=person.strip())
        # All roles: nobody else is there yet, and a contract needs somebody who may approve.
        roles = [str(role) for role in Role]
        Membership.everywhere.create(tenant=tenant, user=user, roles=roles)
        audit.append(
            tenant_id=tenant.pk,
            act="membership.added",
            subject=("user", user.pk.hex),
            payload={"email": user.email, "roles": roles},
            actor_kind="console",
        )
    return tenant
