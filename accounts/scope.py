"""Tenant scope: the default manager of every tenant row shows the rows of the current tenant and refuses to
run without one.

Doors (pages, API, sockets) enter a scope with :func:`tenant_scope`; the engine names its rows by id and
uses ``everywhere``.
"""

import contextlib
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

from django.db import models

_current: ContextVar[uuid.UUID | None] = ContextVar("tenant", default=None)

M = TypeVar("M", bound=models.Model)


class NoTenant(RuntimeError):
    """A tenant's rows were asked for outside any tenant scope: a fault of ours, never of the caller."""


def current_tenant() -> uuid.UUID:
    """The tenant of the current scope. Raises :class:`NoTenant` outside one."""
    tenant = _current.get()
    if tenant is None:
        raise NoTenant(
            "No tenant scope. Enter tenant_scope(tenant_id), or use the manager 'everywhere' in the engine."
        )
    return tenant


@contextlib.contextmanager
def tenant_scope(tenant_id: uuid.UUID | None) -> Iterator[None]:
    """Everything inside sees the rows of this tenant alone; ``None`` closes the scope."""
    token = _current.set(tenant_id)
    try:
        yield
    finally:
        _current.reset(token)


class TenantManager(models.Manager[M]):
    """The default manager: rows of the current tenant, or :class:`NoTenant`."""

    def get_queryset(self) -> models.QuerySet[M, M]:
        return super().get_queryset().filter(tenant_id=current_tenant())

    def create(self, **values: Any) -> M:
        values.setdefault("tenant_id", current_tenant())
        return super().create(**values)
