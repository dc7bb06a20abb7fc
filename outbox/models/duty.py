"""Periodic work that must have one holder and no single resident process."""

from django.db import models


class Duty(models.Model):
    """``UPDATE … WHERE held_until < now()`` elects the holder; nothing depends on a broker or on beat."""

    name = models.CharField(max_length=60, primary_key=True)
    holder = models.CharField(max_length=120, blank=True)
    held_until = models.DateTimeField(null=True)
    last_run_at = models.DateTimeField(null=True)
    last_result = models.JSONField(default=dict)
