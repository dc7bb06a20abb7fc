"""Entries name the key of their hash; heads only move forward."""

from django.db import migrations, models


HEAD = """
CREATE FUNCTION keep_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' OR NEW.sequence < OLD.sequence OR NEW.tenant_id IS DISTINCT FROM OLD.tenant_id THEN
        RAISE EXCEPTION '% only moves forward: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_head_forward BEFORE UPDATE OR DELETE ON accounts_audithead
    FOR EACH ROW EXECUTE FUNCTION keep_head();
CREATE TRIGGER audit_head_no_truncate BEFORE TRUNCATE ON accounts_audithead
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
DROP_HEAD = """
DROP TRIGGER audit_head_forward ON accounts_audithead; DROP TRIGGER audit_head_no_truncate ON accounts_audithead;
DROP FUNCTION keep_head();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_webhook_scope'),
    ]

    operations = [
        migrations.AddField(
            model_name='auditentry',
            name='key',
            field=models.CharField(blank=True, db_default='', default='', max_length=16),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(condition=models.Q(('actor__isnull', False)), fields=['tenant', 'actor', 'sequence'], name='audit_by_person'),
        ),
        migrations.RunSQL(HEAD, DROP_HEAD),
    ]
