"""Two administrators for one publication: the tenant's rule, and who asked whom to look at a draft."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import TenantRow, User
from tools.models.contract import Tool


class PublishRule(TenantRow):
    """Whether a second administrator must publish; no row: no. Switching it off takes two people as well: ``off_asked_by``
    has asked, another one makes it so."""

    needs_second = models.BooleanField(default=False)
    changed_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    changed_at = models.DateTimeField(db_default=Now())
    off_asked_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    off_asked_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["tenant"], name="publish_rule_once"),
            models.CheckConstraint(
                condition=Q(off_asked_by__isnull=True, off_asked_at__isnull=True)
                | Q(off_asked_by__isnull=False, off_asked_at__isnull=False, needs_second=True),
                name="publish_rule_off_has_a_name",
            ),
        ]


class Review(TenantRow):
    """Somebody asks another administrator to look at one content of a draft (``digest``, as ``drafts.seen`` gives it) and to
    publish it or to send it back. Open while ``outcome`` is empty; a draft that changes makes it void."""

    class Outcome(models.TextChoices):
        OPEN = ""
        PUBLISHED = "published"
        RETURNED = "returned"
        VOID = "void"

    tool = models.ForeignKey(Tool, on_delete=models.PROTECT, related_name="reviews")
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    note = models.CharField(max_length=500, blank=True)
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(db_default=Now(), editable=False)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default="", blank=True)
    answered_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True)

    class Meta(TenantRow.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["tool"], condition=Q(outcome=""), name="review_open_once"),
            models.CheckConstraint(
                condition=Q(outcome="", answered_by__isnull=True, answered_at__isnull=True)
                | (~Q(outcome="") & Q(answered_by__isnull=False, answered_at__isnull=False)),
                name="review_answer_has_a_name",
            ),
            models.CheckConstraint(
                condition=~Q(outcome__in=["published", "returned"]) | ~Q(answered_by=models.F("asked_by")),
                name="review_by_another_person",
            ),
            models.CheckConstraint(
                condition=~Q(outcome="returned") | ~Q(reason=""), name="review_returned_has_a_reason"
            ),
        ]
