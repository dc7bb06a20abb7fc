"""Notes to people: what was told to whom, over which channel, and whether it arrived; and how each wants to be told."""

from typing import ClassVar

from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import TenantRow, User
from outbox.models.chat import ChatTarget


class Channel(models.TextChoices):
    """A way to a person. ``browser``: a page that is open rings on the desktop too; it has no rows of its own."""

    MAIL = "mail", _("Mail")
    PAGE = "page", _("In the page")
    CHAT = "chat", _("Chat")
    BROWSER = "browser", _("Desktop")


class Timing(models.TextChoices):
    """When a note goes out. Only mail has a digest."""

    AT_ONCE = "at_once", _("At once")
    DIGEST = "digest", _("In the digest")
    OFF = "off", _("Off")


class NotificationPreference(TenantRow):
    """When notes of a kind go out over a channel, for one person; without a person, for those who chose nothing."""

    user = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=40)
    channel = models.CharField(max_length=20, choices=Channel.choices)
    timing = models.CharField(max_length=10, choices=Timing.choices)
    changed_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "user", "kind", "channel"],
                name="preference_once",
                condition=Q(user__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["tenant", "kind", "channel"],
                name="preference_of_tenant_once",
                condition=Q(user__isnull=True),
            ),
            models.CheckConstraint(
                condition=Q(channel=Channel.MAIL) | ~Q(timing=Timing.DIGEST), name="preference_digest_is_mail"
            ),
        ]


class DigestTime(TenantRow):
    """When a person's digest goes out: every full hour, or daily at ``hour`` of their time zone."""

    class Every(models.TextChoices):
        HOURLY = "hourly", _("Every hour")
        DAILY = "daily", _("Once a day")

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    every = models.CharField(max_length=10, choices=Every.choices, default=Every.DAILY)
    hour = models.PositiveSmallIntegerField(default=8, validators=[MaxValueValidator(23)])

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user"], name="digest_time_once"),
            models.CheckConstraint(condition=Q(hour__lte=23), name="digest_time_hour"),
        ]


class Digest(TenantRow):
    """One digest of one person. ``period`` is the moment at which it was due: the unique pair is what keeps two
    coordinators from making two. ``sent_at`` empty and ``ended_at`` set: nothing in it stood any more, or it failed."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    period = models.DateTimeField()
    made_at = models.DateTimeField(db_default=Now(), editable=False)
    sent_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "user", "period"], name="digest_once_a_period")
        ]


class Notification(TenantRow):
    """One note to one person over one channel; without a person, to the tenant's chat. A dead channel never blocks a
    decision or another recipient.

    ``topic`` and ``event`` are what it is written from, at the last moment. ``about`` is the key of that message: what
    concerns one action or task is found by it. ``read_at`` is for notes in the page; ``loud`` ones may ring on the desktop.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("on its way")
        WAITING = "waiting", _("waits for the digest")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed")
        DROPPED = "dropped", _("not sent: it did not stand any more")

    event_id = models.UUIDField()
    user = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    channel = models.CharField(max_length=20, choices=Channel.choices, default=Channel.MAIL)
    kind = models.CharField(max_length=40)
    topic = models.CharField(max_length=60, default="")
    event = models.JSONField(default=dict)
    about = models.CharField(max_length=80, default="", blank=True)
    subject = models.CharField(max_length=300)
    link = models.CharField(max_length=300, default="", blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    loud = models.BooleanField(default=False)
    last_error = models.TextField(blank=True, default="")
    digest = models.ForeignKey(Digest, null=True, on_delete=models.PROTECT, related_name="notes")
    target = models.ForeignKey(ChatTarget, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["event_id", "user", "channel"], name="notification_once"),
            models.UniqueConstraint(
                fields=["event_id", "channel"],
                name="notification_to_tenant_once",
                condition=Q(user__isnull=True),
            ),
            models.CheckConstraint(
                condition=Q(user__isnull=False) | Q(channel=Channel.CHAT), name="notification_has_a_reader"
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["user", "tenant"],
                name="notification_unread",
                condition=Q(channel=Channel.PAGE, read_at__isnull=True),
            ),
            models.Index(fields=["user", "tenant", "-id"], name="notification_of_person"),
            models.Index(fields=["about", "id"], name="notification_about", condition=~Q(about="")),
            models.Index(
                fields=["tenant", "user"], name="notification_waiting", condition=Q(status="waiting")
            ),
            models.Index(fields=["tenant", "-id"], name="notification_failed", condition=Q(status="failed")),
            models.Index(fields=["created_at"], name="notification_age"),
        ]
