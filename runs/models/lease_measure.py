"""How renewals went: a histogram per node process and hour, for `manage.py lease_advice` and the metrics."""

from typing import ClassVar

from django.db import models

from tools.models import WorkerProcess


class LeaseMeasure(models.Model):
    """``count`` measurements fell into ``bucket`` (see `runs.histogram`) in that hour of the database's clock.

    ``what``: ``pause`` = how late the keeper's look came · ``renewal`` = how long a renewal took to be answered · ``left`` =
    what was left of a lease when it was renewed · ``failed`` = renewals without an answer (all in bucket 0).
    """

    class What(models.TextChoices):
        PAUSE = "pause"
        RENEWAL = "renewal"
        LEFT = "left"
        FAILED = "failed"

    worker = models.ForeignKey(WorkerProcess, on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()
    what = models.CharField(max_length=8, choices=What.choices)
    bucket = models.PositiveSmallIntegerField()
    count = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["worker", "hour", "what", "bucket"], name="lease_measure_once")
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["hour"], name="lease_measure_hour")]
