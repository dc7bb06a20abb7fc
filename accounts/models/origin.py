"""Which database this is."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models.people import User


class DatabaseOrigin(models.Model):
    """The one row that says which cluster and timeline this database was last accepted on. ``generation`` counts the
    restores. ``doubt`` is not empty while it may have been set back: nothing is claimed until an administrator has taken
    the restore in (architecture.md, section 5)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    system_identifier = models.CharField(max_length=20)
    timeline = models.PositiveIntegerField()
    generation = models.PositiveIntegerField(default=0)
    doubt = models.CharField(max_length=300, blank=True, default="")
    accepted_at = models.DateTimeField(db_default=Now())
    accepted_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="origin_one_row")]
