"""The history is counted by its time, and lost leases name the worker that had them. Nothing was written to the first form of
these tables."""

import django.contrib.postgres.indexes
from django.db import migrations, models

KEY = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("runs", "0013_retention")]

    operations = [
        migrations.DeleteModel(name="LostLease"),
        migrations.DeleteModel(name="TallyMark"),
        migrations.CreateModel(
            name="LostLease",
            fields=[
                ("id", KEY),
                ("step_id", models.UUIDField()),
                ("fence", models.BigIntegerField()),
                ("worker_id", models.UUIDField()),
                ("why", models.CharField(max_length=8)),
                ("seen_at", models.DateTimeField()),
                ("claimed_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("step_id", "fence"), name="lost_lease_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="TallyMark",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("counted", models.DateTimeField()),
                ("ready", models.DateTimeField()),
                ("horizon", models.BigIntegerField(default=0)),
                ("at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="tally_mark_is_one")
                ],
            },
        ),
        migrations.AddIndex(
            model_name="event",
            index=django.contrib.postgres.indexes.BrinIndex(
                autosummarize=True, fields=["at"], name="event_time"
            ),
        ),
    ]
