"""What people (or a written policy) said; append-only."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import TenantRow, User
from approvals.models.action import PendingAction


class Verdict(models.TextChoices):
    """The answers a person can give, by kind of action, and the two that only a policy gives."""

    APPROVE = "approve", _("Approved")
    REJECT = "reject", _("Rejected")
    ASK_CHANGES = "ask_changes", _("Asked for changes")
    HAPPENED = "happened", _("It happened")
    NOT_HAPPENED = "not_happened", _("It did not happen")
    NOBODY_KNOWS = "nobody_knows", _("Nobody can know")
    ANSWER = "answer", _("Answered")
    CONTINUE = "continue", _("Continued")
    FAIL = "fail", _("Ended as failed")
    EXPIRE = "expire", _("Expired")


class Decision(TenantRow):
    """One answer of one person to one action; ``user`` is empty when a policy answered, which ``decided_by`` then names.
    ``answer`` is the value that a question of kind *answer* asked for. ``authority`` names the right that was used, and
    ``stands_for`` the person who was away; ``batch`` is shared by the decisions of one batch; ``opened_at`` is when this
    person first had the question before them, ``payload_opened`` whether everything folded was opened (null: unknown)."""

    action = models.ForeignKey(PendingAction, on_delete=models.PROTECT, related_name="decisions")
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    decided_by = models.CharField(max_length=40, default="person")
    authenticated = models.CharField(max_length=40, blank=True)
    channel = models.CharField(max_length=20)
    verdict = models.CharField(max_length=20, choices=Verdict.choices)
    digest_seen = models.CharField(max_length=64)
    generation = models.PositiveIntegerField()
    edited = models.JSONField(null=True, blank=True)
    answer = models.JSONField(null=True, blank=True)
    reference = models.CharField(max_length=500, blank=True)
    comment = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)
    address = models.GenericIPAddressField(null=True, blank=True)
    authority = models.CharField(max_length=40, blank=True, default="", db_default="")
    stands_for = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    batch = models.UUIDField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    payload_opened = models.BooleanField(null=True, blank=True)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["action", "user"], condition=Q(user__isnull=False), name="decision_once_per_person"
            ),
            models.CheckConstraint(
                condition=Q(user__isnull=False) | ~Q(decided_by="person"), name="decision_person_or_policy"
            ),
            models.CheckConstraint(
                condition=~Q(verdict="reject") | ~Q(comment=""), name="decision_reject_has_a_reason"
            ),
            models.CheckConstraint(
                condition=~Q(verdict="happened") | ~Q(reference=""), name="decision_happened_has_a_reference"
            ),
        ]
        indexes = [models.Index(fields=["tenant", "-at"], name="decision_recent")]
