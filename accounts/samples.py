"""The sample cast: who exists in a house of its own, so that the story can be walked through at once.

Only for embedded servers: the passwords are known to everybody who reads this file.
"""

from dataclasses import dataclass

from django.db import transaction

from accounts import audit
from accounts.models import Membership, Role, Tenant, User

PASSWORD = "countersign-sample"  # noqa: S105 - documented, and refused outside embedded mode


@dataclass(frozen=True, slots=True)
class SampleTenant:
    """A tenant of the cast."""

    slug: str
    name: str
    mail_from: str
    mail_reply_to: str


@dataclass(frozen=True, slots=True)
class SamplePerson:
    """A person of the cast, with the one role they are there for."""

    email: str
    name: str
    role: Role
    tenant: SampleTenant
    outsider: bool = False


LINDEN = SampleTenant("linden", "Linden Instruments", "contracts@linden.example", "office@linden.example")
ALDERGATE = SampleTenant("aldergate", "Aldergate", "desk@aldergate.example", "desk@aldergate.example")
CAST = [
    SamplePerson("ada@linden.example", "Ada Lindqvist", Role.SUBMITTER, LINDEN),
    SamplePerson("ben@linden.example", "Ben Okafor", Role.APPROVER, LINDEN),
    SamplePerson("mira@linden.example", "Mira Sandoval", Role.APPROVER, LINDEN),
    SamplePerson("jonas@linden.example", "Jonas Weber", Role.ADMINISTRATOR, LINDEN),
    SamplePerson("vera@linden.example", "Vera Holm", Role.ADMINISTRATOR, LINDEN),
    SamplePerson("otto@aldergate.example", "Otto Fremd", Role.SUBMITTER, ALDERGATE, outsider=True),
]


def seed() -> list[Tenant]:
    """Make tenants and people that are missing; what exists is left as it is. Owns its transaction."""
    with transaction.atomic(durable=True):
        tenants = {one.tenant.slug: _tenant(one.tenant) for one in CAST}
        for one in CAST:
            _person(one, tenants[one.tenant.slug])
    return list(tenants.values())


def accounts() -> list[dict[str, str]]:
    """What the READY line of ``make up`` tells."""
    return [
        {
            "email": one.email,
            "password": PASSWORD,
            "role": "outsider" if one.outsider else str(one.role.value),
            "tenant": one.tenant.name,
        }
        for one in CAST
    ]


def _tenant(sample: SampleTenant) -> Tenant:
    facts = {"name": sample.name, "mail_from": sample.mail_from, "mail_reply_to": sample.mail_reply_to}
    return Tenant.objects.get_or_create(slug=sample.slug, defaults=facts)[0]


def _person(sample: SamplePerson, tenant: Tenant) -> None:
    user = User.objects.filter(email=sample.email).first()
    if user is None:
        user = User.objects.create_user(sample.email, PASSWORD, name=sample.name)
    # An outsider may submit in a tenant of their own, and administer it: there is nobody else.
    roles = [sample.role, Role.APPROVER, Role.ADMINISTRATOR] if sample.outsider else [sample.role]
    _, made = Membership.everywhere.get_or_create(tenant=tenant, user=user, defaults={"roles": roles})
    if made:
        audit.append(
            tenant_id=tenant.pk,
            act="membership.added",
            subject=("user", user.pk.hex),
            payload={"email": user.email, "roles": [str(role) for role in roles]},
            actor_kind="samples",
        )
