"""Resource fences, quotas, switches and secrets."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import TenantRow, User
from tools.models.contract import Tool


class ResourceFence(TenantRow):
    """The highest fence token accepted for one resource (L11). Begin locks it before it looks which effects on the resource
    are under way, and whatever ends one of them locks it too: so nobody waits for something that is over."""

    resource = models.CharField(max_length=300)
    last_token = models.BigIntegerField(default=0)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "resource"], name="resource_once")]


class QuotaWindow(TenantRow):
    """The calls of one tool in the last ``seconds``, as :class:`tools.windows.Window` counts them; begin locks it."""

    tool = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="+")
    seconds = models.PositiveIntegerField()
    first = models.BigIntegerField(default=0)
    counts = ArrayField(models.PositiveIntegerField(), default=list)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tool", "seconds"], name="quota_window_once")]


class StopSwitch(TenantRow):
    """A person stopped a tenant, a tool or a run. Open while ``lifted_at`` is empty; begin refuses under an
    open switch."""

    tool = models.ForeignKey(Tool, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    run_id = models.UUIDField(null=True, blank=True)
    reason = models.CharField(max_length=500)
    set_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(db_default=Now(), editable=False)
    lifted_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    lifted_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="switch_has_a_reason"),
            models.CheckConstraint(
                condition=Q(tool__isnull=True) | Q(run_id__isnull=True), name="switch_one_scope"
            ),
            models.UniqueConstraint(
                fields=["tenant"],
                condition=Q(lifted_at__isnull=True, tool__isnull=True, run_id__isnull=True),
                name="switch_tenant_once",
            ),
            models.UniqueConstraint(
                fields=["tool"], condition=Q(lifted_at__isnull=True), name="switch_tool_once"
            ),
            models.UniqueConstraint(
                fields=["run_id"], condition=Q(lifted_at__isnull=True), name="switch_run_once"
            ),
        ]
        indexes = [models.Index(fields=["tenant"], name="switch_open", condition=Q(lifted_at__isnull=True))]


class Secret(TenantRow):
    """A credential of a tool: encrypted, write-only; arguments and events hold its name alone. ``used_at`` is kept to about
    ten minutes."""

    name = models.CharField(max_length=80)
    ciphertext = models.BinaryField()
    set_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(auto_now=True)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="secret_name_once")]
