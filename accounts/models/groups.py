"""Groups of people that rules may name, and who is away."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower, Now

from accounts.models.base import TenantRow
from accounts.models.people import User


class Group(TenantRow):
    """A named group of people of a tenant. A rule that names it asks its members, who also need the role that the rule
    names. ``closed_at`` ends it without forgetting it."""

    name = models.CharField(max_length=80)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(
                "tenant", Lower("name"), condition=Q(closed_at__isnull=True), name="group_name_once"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="group_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name


class GroupMember(TenantRow):
    """A person in a group."""

    group = models.ForeignKey(Group, on_delete=models.PROTECT, related_name="places")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    since = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantRow.Meta):
        constraints = [models.UniqueConstraint(fields=["group", "user"], name="group_member_once")]


class Absence(TenantRow):
    """A person is away from ``begins_at`` until ``ends_at``; ``stand_in`` looks after what was handed to them. Standing in
    gives no right: a stand-in decides what they may decide anyway."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    stand_in = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    cancelled_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("begins_at")), name="absence_ends_after_it_begins"
            ),
            models.CheckConstraint(
                condition=Q(stand_in__isnull=True) | ~Q(stand_in=F("user")), name="absence_another_stands_in"
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "ends_at"], name="absence_live", condition=Q(cancelled_at__isnull=True)
            )
        ]
