import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

import accounts.ids


class Migration(migrations.Migration):
    """Quotas and the order on a resource are kept now. The table of windows was never written."""

    dependencies = [
        ("tools", "0012_stops_once"),
    ]

    operations = [
        migrations.DeleteModel(name="QuotaWindow"),
        migrations.CreateModel(
            name="QuotaWindow",
            fields=[
                ("id", models.UUIDField(default=accounts.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("seconds", models.PositiveIntegerField()),
                ("first", models.BigIntegerField(default=0)),
                (
                    "counts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveIntegerField(), default=list, size=None
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.tenant"
                    ),
                ),
                (
                    "tool",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="tools.tool"
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "everywhere",
                "constraints": [
                    models.UniqueConstraint(fields=("tool", "seconds"), name="quota_window_once")
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("everywhere", django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddField(
            model_name="contract",
            name="quota_per_minute",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="intent",
            name="resource",
            field=models.CharField(blank=True, db_default="", default="", max_length=300),
        ),
        migrations.AddIndex(
            model_name="intent",
            index=models.Index(
                condition=models.Q(
                    ("status__in", ["AUTHORISED", "DISPATCHED", "UNKNOWN"]),
                    models.Q(("resource", ""), _negated=True),
                ),
                fields=["tenant", "resource"],
                name="intent_on_resource",
            ),
        ),
    ]
