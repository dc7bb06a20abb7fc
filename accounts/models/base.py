"""What every tenant row has in common."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db import models

from accounts.ids import new_id
from accounts.scope import TenantManager


class TenantRow(models.Model):
    """A row that belongs to one tenant. ``objects`` is scoped to the current tenant; ``everywhere`` is for
    the engine."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey("accounts.Tenant", on_delete=models.PROTECT, related_name="+")

    objects: ClassVar[TenantManager[Any]] = TenantManager()
    everywhere: ClassVar[models.Manager[Any]] = models.Manager()

    class Meta:
        abstract = True
        base_manager_name = "everywhere"

    def refresh_from_db(
        self,
        using: str | None = None,
        fields: Iterable[str] | None = None,
        from_queryset: models.QuerySet[Any] | None = None,
    ) -> None:
        """Also reads the state anew: a protected state field takes a value only when it has none."""
        wanted = None if fields is None else set(fields)
        for field in self._meta.concrete_fields:
            if getattr(field, "protected", False) and (wanted is None or field.name in wanted):
                self.__dict__.pop(field.name, None)
        super().refresh_from_db(using=using, fields=wanted, from_queryset=from_queryset)
