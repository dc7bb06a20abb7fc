"""What waits for a person."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django_fsm import FSMField, transition

from accounts.models import TenantRow, User
from tools.models import Intent, Risk


class PendingAction(TenantRow):
    """One open question to the people of a tenant.

    ``shown`` are the exact canonical bytes (RFC 8785) that the page is rendered from and ``digest`` is their SHA-256 in
    hexadecimal: it covers tenant, run, step, intent key, tool, contract digest, arguments, target, policy and expiry.
    ``run_id`` and ``step_id`` are opaque here. ``submitter`` is who asked (four-eyes). ``policy`` is the snapshot of who
    may decide and how many must. ``editors`` changed the arguments and are therefore no second pair of eyes.
    ``assignee`` is the one person it was handed to, by ``delegated_by`` with the words ``handed_note``.
    ``remind_at`` and ``escalate_at`` are the next times at which somebody is told; ``escalated_at`` is when it went to the
    escalation owner, ``undecidable_since`` since when nobody can decide it. ``applied_at`` is set by the engine when it has
    acted on the outcome.
    """

    class Kind(models.TextChoices):
        APPROVE = "approve", _("Approve")
        SETTLE = "settle", _("Settle an unknown outcome")
        TAKE_OVER = "take_over", _("Take over")
        ANSWER = "answer", _("Answer")

    class Status(models.TextChoices):
        OPEN = "OPEN", _("Open")
        APPROVED = "APPROVED", _("Approved")
        CONSUMED = "CONSUMED", _("Used")
        VOIDED = "VOIDED", _("Void")
        REJECTED = "REJECTED", _("Rejected")
        CHANGES_REQUESTED = "CHANGES_REQUESTED", _("Changes asked for")
        ANSWERED = "ANSWERED", _("Answered")
        SETTLED = "SETTLED", _("Settled")
        EXPIRED = "EXPIRED", _("Expired")
        WITHDRAWN = "WITHDRAWN", _("Withdrawn")

    kind = models.CharField(max_length=10, choices=Kind.choices)
    status = FSMField(max_length=20, choices=Status.choices, default=Status.OPEN, protected=True)
    intent = models.ForeignKey(
        Intent, null=True, blank=True, on_delete=models.PROTECT, related_name="actions"
    )
    run_id = models.UUIDField()
    step_id = models.UUIDField(null=True, blank=True)
    epoch = models.PositiveIntegerField(default=0)
    sentence = models.CharField(max_length=500)
    target = models.CharField(max_length=500, blank=True)
    second_gesture = models.CharField(max_length=500, blank=True)
    risk = models.CharField(max_length=6, choices=Risk.choices, default=Risk.LOW)
    irreversible = models.BooleanField(default=False)
    shown = models.BinaryField()
    digest = models.CharField(max_length=64)
    preview = models.JSONField(default=dict, blank=True)
    rationale = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)
    verdicts = ArrayField(models.CharField(max_length=20))
    policy = models.JSONField(default=dict, blank=True)
    submitter = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    agent = models.CharField(max_length=80, blank=True)
    generation = models.PositiveIntegerField(default=1)
    successor_of = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="successor"
    )
    void_reason = models.CharField(max_length=300, blank=True)
    assignee = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    delegated_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    handed_note = models.CharField(max_length=300, blank=True, default="", db_default="")
    editors = ArrayField(models.UUIDField(), default=list, blank=True, db_default=[])
    claimed_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    claimed_until = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    remind_at = models.DateTimeField(null=True, blank=True)
    reminders = models.PositiveSmallIntegerField(default=0, db_default=0)
    escalate_at = models.DateTimeField(null=True, blank=True)
    escalated_at = models.DateTimeField(null=True, blank=True)
    undecidable_since = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["intent", "kind"], condition=Q(status="OPEN"), name="action_open_once_per_intent"
            ),
            models.CheckConstraint(
                condition=Q(status="OPEN", decided_at__isnull=True)
                | (~Q(status="OPEN") & Q(decided_at__isnull=False)),
                name="action_open_or_decided",
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=["approve", "settle"]) | Q(intent__isnull=False),
                name="action_has_its_intent",
            ),
            models.CheckConstraint(
                condition=~Q(kind="approve") | Q(expires_at__isnull=False), name="action_approval_expires"
            ),
            models.CheckConstraint(
                condition=Q(claimed_by__isnull=True) | Q(claimed_until__isnull=False),
                name="action_claim_ends",
            ),
            models.CheckConstraint(condition=Q(generation__gt=0), name="action_generation_from_one"),
        ]
        indexes = [
            models.Index(fields=["tenant", "expires_at"], name="action_open", condition=Q(status="OPEN")),
            models.Index(fields=["expires_at"], name="action_expiring", condition=Q(status="OPEN")),
            models.Index(
                fields=["decided_at"],
                name="action_to_apply",
                condition=Q(applied_at__isnull=True) & ~Q(status="OPEN"),
            ),
            models.Index(
                fields=["remind_at"],
                name="action_remind",
                condition=Q(status="OPEN", remind_at__isnull=False),
            ),
            models.Index(
                fields=["escalate_at"],
                name="action_escalate",
                condition=Q(status="OPEN", escalate_at__isnull=False),
            ),
            models.Index(fields=["run_id"], name="action_by_run"),
            models.Index(
                fields=["tenant", "-decided_at"], name="action_decided", condition=~Q(status="OPEN")
            ),
        ]

    @transition(field=status, source=Status.OPEN, target=Status.APPROVED)
    def approve(self) -> None:
        """Enough people agreed: a grant for one intent."""

    @transition(field=status, source=Status.APPROVED, target=Status.CONSUMED)
    def consume(self) -> None:
        """Begin used the grant."""

    @transition(field=status, source=Status.APPROVED, target=Status.VOIDED)
    def void(self) -> None:
        """Drift, or taken back before begin."""

    @transition(field=status, source=Status.OPEN, target=Status.REJECTED)
    def reject(self) -> None:
        """A person said no, with a reason."""

    @transition(field=status, source=Status.OPEN, target=Status.CHANGES_REQUESTED)
    def ask_for_changes(self) -> None:
        """The agent gets the comment and may propose again."""

    @transition(field=status, source=Status.OPEN, target=Status.ANSWERED)
    def answer(self) -> None:
        """A question was answered, or a takeover was continued."""

    @transition(field=status, source=Status.OPEN, target=Status.SETTLED)
    def settle(self) -> None:
        """A person recorded what became of an unknown outcome."""

    @transition(field=status, source=Status.OPEN, target=Status.EXPIRED)
    def expire(self) -> None:
        """Time ran out, which denies."""

    @transition(field=status, source=Status.OPEN, target=Status.WITHDRAWN)
    def withdraw(self) -> None:
        """The question no longer stands."""
