"""Credentials of tools: kept encrypted, named by contracts, opened at the moment of a call, never shown again.

Each tenant has a key of its own, derived (HKDF, RFC 5869) from the installation's; a row that is moved to another tenant or
name does not open. With several keys of the installation the first one encrypts and all of them open, so keys can be changed
without a pause: put the new one first, run ``manage.py rotate_secrets``, drop the old one.
"""

import json
import uuid
from collections.abc import Collection
from datetime import datetime

from cryptography.fernet import InvalidToken, MultiFernet
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts import audit, sealing
from accounts.errors import Refused
from accounts.statements import run
from tools.adapters import registry
from tools.models import Contract, Secret
from tools.reasons import Problem

MAX_LENGTH = 10_000
#: How fresh "last used" is kept, in seconds: calls must not queue up for one row.
USE_EVERY = 600


class Sealed(Exception):
    """A secret does not open with any key that this process has. ``name`` is that of the secret."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The secret {name!r} does not open with the keys that are set.")
        self.name = name


def keep(*, tenant_id: uuid.UUID, name: str, value: str, by: uuid.UUID, channel: str = "web") -> None:
    """Sets or replaces a secret; audited is its name. Owns its transaction. Raises :class:`accounts.errors.Refused`."""
    if not name.strip() or len(name) > 80 or not name.isprintable():
        raise Refused(
            "bad_name", _("A secret needs a name of at most 80 characters. Nothing was kept."), field="name"
        )
    if not value or len(value) > MAX_LENGTH or not value.isascii() or not value.isprintable():
        text = _("A secret is plain ASCII text of at most 10,000 characters on one line. Nothing was kept.")
        raise Refused("bad_secret", text, field="value")
    with transaction.atomic(durable=True):
        _row, made = Secret.everywhere.update_or_create(
            tenant_id=tenant_id,
            name=name.strip(),
            defaults={"ciphertext": _seal(tenant_id, name.strip(), value), "set_by_id": by, "set_at": Now()},
        )
        _note("secret.set" if made else "secret.replaced", tenant_id, name.strip(), by, channel)


def forget(*, tenant_id: uuid.UUID, name: str, by: uuid.UUID, channel: str = "web") -> bool:
    """Deletes a secret; False when there is none of that name. Raises :class:`accounts.errors.Refused` while a contract in
    force names it: its calls would fail. Owns its transaction."""
    with transaction.atomic(durable=True):
        if tools := used_by(tenant_id=tenant_id).get(name):
            text = _("Contracts in force use it: %(tools)s. Nothing was deleted.")
            raise Refused("in_use", text % {"tools": ", ".join(tools)})
        deleted, _rows = Secret.everywhere.filter(tenant_id=tenant_id, name=name).delete()
        if deleted:
            _note("secret.deleted", tenant_id, name, by, channel)
    return bool(deleted)


def opened(*, tenant_id: uuid.UUID, names: Collection[str]) -> dict[str, str]:
    """The values as they are now, for a call that is about to be made. A name that is not set is left out. Raises
    :class:`Sealed`."""
    rows = list(Secret.everywhere.filter(tenant_id=tenant_id, name__in=names)) if names else []
    values = {row.name: _open(tenant_id, row.name, bytes(row.ciphertext)) for row in rows}
    if rows:
        run("tools", "note_secret_use", {"ids": [row.pk for row in rows], "seconds": USE_EVERY})
    return values


def used_by(*, tenant_id: uuid.UUID) -> dict[str, list[str]]:
    """Titles of the tools whose contract in force names a secret, by its name."""
    found: dict[str, list[str]] = {}
    live = Contract.everywhere.select_related("tool").filter(
        tenant_id=tenant_id, status=Contract.Status.PUBLISHED
    )
    for contract in live.order_by("tool__title"):
        for name in registry.kind(contract.adapter).secrets(contract.config):
            found.setdefault(name, []).append(contract.tool.title)
    return found


def missing(contract: Contract) -> list[Problem]:
    """The secrets that a contract names and that are not set: every call under it would fail."""
    wanted = registry.kind(contract.adapter).secrets(contract.config)
    known = Secret.everywhere.filter(tenant_id=contract.tenant_id, name__in=wanted) if wanted else None
    there = set(known.values_list("name", flat=True)) if known is not None else set()
    text = gettext_noop("There is no secret called %(name)s: every call would fail. Set it under Secrets.")
    return [
        Problem("secret_missing", text, {"name": name}, "config")
        for name in dict.fromkeys(wanted)
        if name not in there
    ]


def generations(*, tenant_id: uuid.UUID, names: Collection[str]) -> dict[str, datetime | None]:
    """When each was last set by a person, in the order of ``names``; None for one that is not set."""
    rows = Secret.everywhere.filter(tenant_id=tenant_id, name__in=names) if names else None
    known = dict(rows.values_list("name", "set_at")) if rows is not None else {}
    return {name: known.get(name) for name in names}


def rotate() -> int:
    """Encrypts everything anew with the first key; how many. Safe to stop and to run again: each row is one transaction."""
    done = 0
    for pk in Secret.everywhere.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic(durable=True):
            row = Secret.everywhere.select_for_update().filter(pk=pk).first()
            if row is not None:
                value = _open(row.tenant_id, row.name, bytes(row.ciphertext))
                sealed = _seal(row.tenant_id, row.name, value)
                done += Secret.everywhere.filter(pk=pk).update(ciphertext=sealed)
    return done


def _note(act: str, tenant_id: uuid.UUID, name: str, by: uuid.UUID, channel: str) -> None:
    subject = ("secret", name)
    audit.append(
        tenant_id=tenant_id, act=act, subject=subject, payload={"name": name}, actor=by, channel=channel
    )


def _keys(tenant_id: uuid.UUID) -> MultiFernet:
    return sealing.keys(tenant_id, b"countersign.vault.1")


def _seal(tenant_id: uuid.UUID, name: str, value: str) -> bytes:
    return _keys(tenant_id).encrypt(json.dumps([name, value]).encode())


def _open(tenant_id: uuid.UUID, name: str, sealed: bytes) -> str:
    try:
        kept, value = json.loads(_keys(tenant_id).decrypt(sealed))
    except InvalidToken:
        raise Sealed(name) from None
    if kept != name:
        raise Sealed(name)
    return str(value)
