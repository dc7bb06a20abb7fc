"""Plain builders for people: a tenant, its cast, a browser that is signed in."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from allauth.account.internal.userkit import user_id_to_str
from django.test import Client

from accounts.ids import new_id
from accounts.models import Membership, Role, Tenant, User

PASSWORD = "correct horse battery staple"


def tenant(slug: str = "linden", **values: Any) -> Tenant:
    given = {"name": slug.title(), "mail_from": f"desk@{slug}.example", **values}
    return Tenant.objects.create(slug=f"{slug}-{new_id().hex[-8:]}", **given)


def person(of: Tenant, *roles: str, name: str = "Ada Lindqvist", email: str = "", **values: Any) -> User:
    address = email or f"{name.split(maxsplit=1)[0].lower()}.{new_id().hex[-8:]}@{of.slug}.example"
    user = User.objects.create_user(address, PASSWORD, name=name, **values)
    Membership.everywhere.create(tenant=of, user=user, roles=list(roles or (Role.SUBMITTER,)))
    return user


def membership(of: Tenant, user: User) -> Membership:
    found: Membership = Membership.everywhere.get(tenant=of, user=user)
    return found


@dataclass
class Cast:
    """The small cast of fixed meanings."""

    tenant: Tenant
    other: Tenant
    ada: User  # submitter
    ben: User  # approver
    mira: User  # second approver
    jonas: User  # administrator
    otto: User  # administrator and approver of another tenant


def cast() -> Cast:
    linden, aldergate = tenant(), tenant("aldergate")
    return Cast(
        tenant=linden,
        other=aldergate,
        ada=person(linden, Role.SUBMITTER, name="Ada Lindqvist"),
        ben=person(linden, Role.APPROVER, name="Ben Okafor"),
        mira=person(linden, Role.APPROVER, name="Mira Sandoval"),
        jonas=person(linden, Role.ADMINISTRATOR, name="Jonas Weber"),
        otto=person(aldergate, Role.APPROVER, Role.ADMINISTRATOR, name="Otto Fremd"),
    )


def browser(user: User | None = None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        prove(client, user)
    return client


def prove(client: Client, user: User, *, ago: float = 0) -> None:
    """The session remembers a password that was typed so many seconds ago, as a sign-in through the form leaves it."""
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time() - ago}]
    session["account_authentication_methods_user"] = user_id_to_str(user)
    session.save()
