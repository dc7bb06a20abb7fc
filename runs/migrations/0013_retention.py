"""Files that no row names are found by an index; retention may empty a checkpoint of an erased run, nothing else."""

from django.conf import settings
from django.db import migrations, models


CHECKPOINT = """
CREATE FUNCTION keep_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.state = '{}' AND NEW.summary = '{}'
            AND to_jsonb(NEW) - 'state' - 'summary' = to_jsonb(OLD) - 'state' - 'summary'
            AND EXISTS (SELECT 1 FROM runs_run r WHERE r.id = OLD.run_id AND r.erased_at IS NOT NULL) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE OR REPLACE TRIGGER checkpoint_never_changed BEFORE UPDATE ON runs_checkpoint
    FOR EACH ROW EXECUTE FUNCTION keep_checkpoint();
"""
BACK = """
CREATE OR REPLACE TRIGGER checkpoint_never_changed BEFORE UPDATE ON runs_checkpoint
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
DROP FUNCTION keep_checkpoint();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_restore'),
        ('runs', '0012_event_months'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL([CHECKPOINT], [BACK]),
        migrations.RemoveIndex(
            model_name='artifact',
            name='artifact_by_content',
        ),
        migrations.AddIndex(
            model_name='artifact',
            index=models.Index(fields=['sha256', 'removed_at'], name='artifact_by_content'),
        ),
        migrations.AddIndex(
            model_name='artifact',
            index=models.Index(condition=models.Q(('removed_at__isnull', False), models.Q(('uri', ''), _negated=True)), fields=['removed_at'], name='artifact_to_remove'),
        ),
    ]
