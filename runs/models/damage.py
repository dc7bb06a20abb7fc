"""Damage: an artifact that was found lost or corrupt, and what was done about it."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import TenantRow
from runs.models.artifact import Artifact
from runs.models.run import Run
from runs.models.step import Step


class Damage(TenantRow):
    """One finding (S15). ``seen_by``: a ``worker`` whose step read it, a ``download``, the ``scrub``. ``done`` is what was
    begun: the step that made it runs again as ``remake``; a person was ``asked``; or it was only ``noted``, because its task
    has ended. ``outcome`` is what came of that, with ``closed_at``: ``same`` content was made again, ``other`` content
    was, making it ``failed``, it was found ``whole`` again, or a person ``answered``."""

    class Done(models.TextChoices):
        REMAKING = "remaking"
        ASKED = "asked"
        NOTED = "noted"

    class Outcome(models.TextChoices):
        OPEN = ""
        SAME = "same"
        OTHER = "other"
        FAILED = "failed"
        WHOLE = "whole"
        ANSWERED = "answered"

    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="damages")
    sha256 = models.CharField(max_length=64)
    found = models.CharField(max_length=8)
    seen_by = models.CharField(max_length=8)
    done = models.CharField(max_length=8, choices=Done.choices)
    remake = models.ForeignKey(Step, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    outcome = models.CharField(
        max_length=8, choices=Outcome.choices, blank=True, default=Outcome.OPEN, db_default=""
    )
    found_at = models.DateTimeField(db_default=Now(), editable=False)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["run", "sha256"],
                condition=Q(closed_at__isnull=True),
                name="damage_open_once_in_a_run",
            ),
            models.UniqueConstraint(
                fields=["artifact"], condition=Q(closed_at__isnull=True), name="damage_open_once"
            ),
            models.CheckConstraint(
                condition=Q(outcome="", closed_at__isnull=True)
                | (~Q(outcome="") & Q(closed_at__isnull=False)),
                name="damage_closed_has_an_outcome",
            ),
            models.CheckConstraint(
                condition=~Q(done="remaking") | Q(remake__isnull=False), name="damage_remaking_has_a_step"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["remake"], name="damage_by_remake", condition=Q(remake__isnull=False))
        ]
