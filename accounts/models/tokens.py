"""API tokens and the counters of the rate limiter."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models.base import TenantRow
from accounts.models.people import User


class TokenScope(models.TextChoices):
    """What a token may be used for. ``decide`` is never granted by default, and what
    is of high risk takes ``decide_high_risk`` beside it; ``webhooks`` opens nothing to
    who is no administrator."""

    READ = "read", _("Read")
    SUBMIT = "submit", _("Submit and cancel tasks")
    SIGNAL = "signal", _("Send signals to tasks")
    DECIDE = "decide", _("Decide on actions")
    DECIDE_HIGH_RISK = "decide_high_risk", _("Decide on actions of high risk too")
    WEBHOOKS = "webhooks", _("Manage webhooks")
    BOUNCES = "bounces", _("Hand in reports of mail servers")
    PROFILE = "profile", _("Change one's own notifications")


class ApiToken(TenantRow):
    """A bearer token of one person in one tenant. Shown once; only prefix and SHA-256 digest are kept."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="api_tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)
    digest = models.BinaryField(max_length=32, unique=True)
    scopes = ArrayField(models.CharField(max_length=20, choices=TokenScope.choices))
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=list(TokenScope.values)), name="token_scopes_known"
            ),
        ]


class RateWindow(models.Model):
    """One counter per key and window, raised by one atomic upsert."""

    key = models.CharField(max_length=200)
    window_start = models.DateTimeField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "window_start"], name="rate_window_once")]
        indexes = [models.Index(fields=["window_start"], name="rate_window_age")]
