"""What every tenant row has in common."""

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
