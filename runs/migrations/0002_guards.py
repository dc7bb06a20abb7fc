"""The fence sequence, guards of terminal states and of history, and vacuum settings of the hot tables.

Step rows are never updated in place while their state stands in partial indexes, so the hot tables are vacuumed early
and pages keep room.
"""

from django.db import migrations

TRIGGERS = """
CREATE TRIGGER run_terminal BEFORE UPDATE ON runs_run FOR EACH ROW
    WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED'))
    EXECUTE FUNCTION keep_terminal('SUCCEEDED', 'FAILED', 'CANCELLED');
CREATE TRIGGER step_terminal BEFORE UPDATE ON runs_step FOR EACH ROW
    WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED'))
    EXECUTE FUNCTION keep_terminal('SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED');
CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON runs_event
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON runs_event
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER correction_append_only BEFORE UPDATE OR DELETE ON runs_findingcorrection
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""
DROP = """
DROP TRIGGER run_terminal ON runs_run; DROP TRIGGER step_terminal ON runs_step;
DROP TRIGGER event_append_only ON runs_event; DROP TRIGGER event_no_truncate ON runs_event;
DROP TRIGGER correction_append_only ON runs_findingcorrection;
"""
VACUUM = """
ALTER TABLE runs_step SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0);
ALTER TABLE runs_run SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE outbox_message SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
"""


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial"), ("accounts", "0002_guards"), ("outbox", "0001_initial")]
    operations = [
        migrations.RunSQL("CREATE SEQUENCE fence AS bigint", "DROP SEQUENCE fence"),
        migrations.RunSQL(TRIGGERS, DROP),
        migrations.RunSQL(VACUUM, migrations.RunSQL.noop),
    ]
