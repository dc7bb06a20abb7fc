"""What a step costs the write-ahead log (docs/decisions/0020).

A trigger BEFORE an update locks the row for itself first, one more record a step; the guards of terminal states say the same
AFTER it, and only when the state changes. The references that are checked by the writer, who holds the run's lock, are not
checked a second time at COMMIT; in return no run is ever deleted. Indexes that nothing reads are gone.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

AFTER = """
DROP TRIGGER run_terminal ON runs_run;
CREATE TRIGGER run_terminal AFTER UPDATE ON runs_run FOR EACH ROW
    WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND NEW.status IS DISTINCT FROM OLD.status)
    EXECUTE FUNCTION keep_terminal('SUCCEEDED', 'FAILED', 'CANCELLED');
DROP TRIGGER step_terminal ON runs_step;
CREATE TRIGGER step_terminal AFTER UPDATE ON runs_step FOR EACH ROW
    WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED') AND NEW.status IS DISTINCT FROM OLD.status)
    EXECUTE FUNCTION keep_terminal('SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED');
CREATE TRIGGER run_stays BEFORE DELETE ON runs_run FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""
BEFORE = """
DROP TRIGGER run_stays ON runs_run;
DROP TRIGGER step_terminal ON runs_step;
CREATE TRIGGER step_terminal BEFORE UPDATE ON runs_step FOR EACH ROW
    WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED'))
    EXECUTE FUNCTION keep_terminal('SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED');
DROP TRIGGER run_terminal ON runs_run;
CREATE TRIGGER run_terminal BEFORE UPDATE ON runs_run FOR EACH ROW
    WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED'))
    EXECUTE FUNCTION keep_terminal('SUCCEEDED', 'FAILED', 'CANCELLED');
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0014_tallies_by_time"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]
    operations = [
        migrations.RunSQL(AFTER, BEFORE),
        migrations.AlterField(
            "run",
            "tenant",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="accounts.tenant",
            ),
        ),
        migrations.AlterField(
            "run",
            "parent",
            models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="children",
                to="runs.run",
            ),
        ),
        migrations.AlterField(
            "run",
            "cancel_requested_by",
            models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            "step",
            "run",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="steps",
                to="runs.run",
            ),
        ),
        migrations.AlterField(
            "event",
            "run",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="events",
                to="runs.run",
            ),
        ),
        migrations.AlterField(
            "step",
            "contract",
            models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tools.contract",
            ),
        ),
    ]
