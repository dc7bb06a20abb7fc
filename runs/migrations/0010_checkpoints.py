"""The summary moves from the run to its checkpoints, which are never changed once they are written; timers get an index.

A live run that has a summary gets a checkpoint with it, so that it goes on where it was.
"""

import django.db.models.manager
from django.db import migrations, models

MOVE = """
INSERT INTO runs_checkpoint (tenant_id, run_id, version, phase, summarised, summary, state, digest, created_at)
SELECT r.tenant_id, r.id, r.version, r.phase, r.summarised, r.context_summary, '{}', '', clock_timestamp()
FROM runs_run r WHERE r.status NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND r.summarised > 0
ON CONFLICT (run_id, version) DO UPDATE SET summarised = EXCLUDED.summarised, summary = EXCLUDED.summary;
UPDATE runs_checkpoint c SET digest = encode(sha256(convert_to(
    concat_ws(E'\\n', c.run_id, c.version, c.summarised, c.summary, c.state), 'UTF8')), 'hex');
"""
TRIGGER = """
CREATE TRIGGER checkpoint_never_changed BEFORE UPDATE ON runs_checkpoint
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""


class Migration(migrations.Migration):

    dependencies = [("runs", "0009_fair_share")]

    operations = [
        migrations.AlterModelOptions(name="checkpoint", options={"base_manager_name": "everywhere"}),
        migrations.AlterModelManagers(
            name="checkpoint",
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("everywhere", django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddField(
            model_name="checkpoint",
            name="summarised",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="checkpoint",
            name="summary",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.RunSQL(MOVE, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGER, "DROP TRIGGER checkpoint_never_changed ON runs_checkpoint"),
        migrations.RemoveField(model_name="run", name="context_summary"),
        migrations.AddConstraint(
            model_name="signal",
            constraint=models.CheckConstraint(
                condition=models.Q(("external_id", ""), _negated=True), name="signal_has_an_external_id"
            ),
        ),
        migrations.AddIndex(
            model_name="step",
            index=models.Index(
                condition=models.Q(("deadline__isnull", False), ("status", "WAITING_EXTERNAL")),
                fields=["deadline"],
                name="step_timer",
            ),
        ),
    ]
