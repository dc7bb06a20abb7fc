"""Tools and their contracts."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django_fsm import FSMField, transition

from accounts.models import TenantRow, User


class EffectClass(models.TextChoices):
    """What a call does to the world."""

    READ_ONLY = "read_only", _("Read-only")
    COMPENSABLE = "compensable", _("Can be undone")
    IRREVERSIBLE = "irreversible", _("Cannot be undone")


class Risk(models.TextChoices):
    """How bad a wrong call is."""

    LOW = "low", _("Low")
    MEDIUM = "medium", _("Medium")
    HIGH = "high", _("High")


class Tool(TenantRow):
    """A named tool of a tenant. The contract in force is its newest published version.

    ``drifted``: what a server said of it (``found``, None when it was gone) instead of what the contract in force pins, in
    which parts (``changed``), and the ``version`` of that contract. While it is there the tool is quarantined.
    """

    name = models.CharField(max_length=80)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    paused_reason = models.CharField(max_length=500, blank=True)
    drifted = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="tool_name_once"),
            models.CheckConstraint(
                condition=Q(paused_at__isnull=True)
                | (~Q(paused_reason="") & (Q(paused_by__isnull=False) | Q(drifted__isnull=False))),
                name="tool_pause_has_name_and_reason",
            ),
            models.CheckConstraint(
                condition=Q(drifted__isnull=True) | Q(paused_at__isnull=False), name="tool_drifted_is_paused"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "name"], name="tool_paused", condition=Q(paused_at__isnull=False))
        ]

    #: How the names of tools for benches and drills begin.
    DRILL: ClassVar[str] = "drill."

    def __str__(self) -> str:
        return self.name

    @property
    def is_drill(self) -> bool:
        """Whether it is there for benches and drills alone."""
        return str(self.name).startswith(self.DRILL)


class Contract(TenantRow):
    """One version of a tool's declaration (requirement L16). Published rows are immutable except for
    retirement.

    Times are in seconds. ``attempt_tokens`` and ``attempt_cost`` are the most that one attempt may use; while
    it is under way so much of the budget is reserved. ``last_resort`` says who hears of it when the retries are
    used up. ``key_memory_seconds`` is how long the far side remembers an idempotency key; 0 =
    for ever. ``result_query`` names the read-only tool that is asked after an ambiguous failure, ``query_arguments`` and
    ``query_answer`` how (``tools.result_query``). ``compensation_arguments`` says from what the arguments of the undo are
    made (``tools.compensation``), empty: the effect as a whole. ``policy`` holds the rules over arguments;
    ``definition_digest`` is SHA-256 over the canonical form of the declaration. ``published_note`` says why it came into
    force.
    """

    class Status(models.TextChoices):
        DRAFT = "DRAFT", _("Draft")
        PUBLISHED = "PUBLISHED", _("Published")
        RETIRED = "RETIRED", _("Retired")

    class Isolation(models.TextChoices):
        """Which kind of child runs the tool: an event loop, a thread, or one killable process with limits."""

        ASYNC = "io"
        THREAD = "thread"
        PROCESS = "cpu"

    class FenceRule(models.TextChoices):
        NONE = "none"
        AT_LEAST = "at_least"
        STRICT = "strict"

    class TakeoverRule(models.TextChoices):
        AT_EXPIRY = "at_expiry"
        KNOWN_GONE = "known_gone"

    class LastResort(models.TextChoices):
        AGENT = "agent", _("The agent is told and may try another way")
        TAKE_OVER = "take_over", _("A person takes over")

    class Concerns(models.TextChoices):
        """What the effect touches; the last three may only be proposed by an agent (L17)."""

        NOTHING = "nothing"
        DATA = "data"
        FUNDS = "funds"
        COMMITMENT = "commitment"
        PERMISSION = "permission"

    tool = models.ForeignKey(Tool, on_delete=models.PROTECT, related_name="contracts")
    version = models.PositiveIntegerField()
    status = FSMField(max_length=12, choices=Status.choices, default=Status.DRAFT, protected=True)
    adapter = models.CharField(max_length=20)
    target = models.CharField(max_length=500, blank=True)
    config = models.JSONField(default=dict, blank=True)
    input_schema = models.JSONField(default=dict, blank=True)
    output_schema = models.JSONField(default=dict, blank=True)
    effect_class = models.CharField(max_length=12, choices=EffectClass.choices)
    concerns = models.CharField(max_length=12, choices=Concerns.choices, default=Concerns.NOTHING)
    risk = models.CharField(max_length=6, choices=Risk.choices, default=Risk.LOW)
    weight = models.DecimalField(max_digits=12, decimal_places=2, default=1)
    native_idempotency = models.BooleanField(default=False)
    key_memory_seconds = models.PositiveIntegerField(default=0)
    enforces_deadline = models.BooleanField(default=False)
    result_query = models.CharField(max_length=80, blank=True)
    query_arguments = models.JSONField(default=dict, blank=True, db_default={})
    query_answer = models.JSONField(default=dict, blank=True, db_default={})
    cancellable = models.BooleanField(default=False)
    retry_safe = models.BooleanField(default=False)
    compensating_tool = models.CharField(max_length=80, blank=True)
    compensation_idempotent = models.BooleanField(default=False)
    compensation_arguments = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True
    )
    timeout_seconds = models.PositiveIntegerField(default=60)
    quiet_seconds = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=3)
    max_total_seconds = models.PositiveIntegerField(default=3600)
    backoff_seconds = models.PositiveIntegerField(default=1)
    retryable_codes = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    fatal_codes = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    fallback_tool = models.CharField(max_length=80, blank=True)
    last_resort = models.CharField(
        max_length=10,
        choices=LastResort.choices,
        default=LastResort.AGENT,
        db_default=LastResort.AGENT,
    )
    attempt_tokens = models.PositiveIntegerField(null=True, blank=True)
    attempt_cost = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    takeover_rule = models.CharField(
        max_length=12, choices=TakeoverRule.choices, default=TakeoverRule.AT_EXPIRY
    )
    fence_rule = models.CharField(max_length=10, choices=FenceRule.choices, default=FenceRule.NONE)
    resource = models.CharField(max_length=200, blank=True)
    isolation = models.CharField(max_length=8, choices=Isolation.choices, default=Isolation.ASYNC)
    memory_mb = models.PositiveIntegerField(default=1024)
    cpu_seconds = models.PositiveIntegerField(default=60)
    egress_hosts = ArrayField(models.CharField(max_length=253), default=list, blank=True)
    data_residency = models.CharField(max_length=60, blank=True)
    quota_per_hour = models.PositiveIntegerField(null=True, blank=True)
    quota_per_minute = models.PositiveIntegerField(null=True, blank=True)
    policy = models.JSONField(default=dict, blank=True)
    approval_ttl_seconds = models.PositiveIntegerField(default=259200)
    definition_digest = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    published_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    published_at = models.DateTimeField(null=True, blank=True)
    published_note = models.CharField(max_length=500, blank=True, default="", db_default="")

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tool", "version"], name="contract_version_once"),
            models.UniqueConstraint(
                fields=["tool"], condition=Q(status="PUBLISHED"), name="contract_one_published_per_tool"
            ),
            models.CheckConstraint(
                condition=Q(status="DRAFT") | (Q(published_at__isnull=False) & ~Q(definition_digest="")),
                name="contract_published_has_digest",
            ),
            models.CheckConstraint(
                condition=Q(effect_class__in=EffectClass.values), name="contract_class_known"
            ),
            models.CheckConstraint(condition=Q(timeout_seconds__gt=0), name="contract_timeout_positive"),
            models.CheckConstraint(condition=Q(max_attempts__gt=0), name="contract_attempts_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.tool.name} v{self.version}"

    @transition(field=status, source=Status.DRAFT, target=Status.PUBLISHED)
    def publish(self) -> None:
        """The declaration is in force; running runs stay pinned to the version they have."""

    @transition(field=status, source=Status.PUBLISHED, target=Status.RETIRED)
    def retire(self) -> None:
        """A newer version is in force, or none."""
