"""Guards in the database: append-only tables and terminal states, whatever path the SQL takes (faults B43, S2)."""

from django.db import migrations

FUNCTIONS = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION keep_terminal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = ANY (TG_ARGV) THEN
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        ELSIF NEW.status IS DISTINCT FROM OLD.status THEN
            RAISE EXCEPTION '% % is %, which is final: % refused', TG_TABLE_NAME, OLD.id, OLD.status, NEW.status
                USING ERRCODE = 'restrict_violation';
        END IF;
    END IF;
    RETURN NEW;
END $$;
"""
DROP = "DROP FUNCTION keep_terminal(); DROP FUNCTION refuse_change();"

AUDIT = """
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON accounts_auditentry
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON accounts_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""
DROP_AUDIT = """
DROP TRIGGER audit_append_only ON accounts_auditentry; DROP TRIGGER audit_no_truncate ON accounts_auditentry;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [
        migrations.RunSQL(FUNCTIONS, DROP),
        migrations.RunSQL(AUDIT, DROP_AUDIT),
    ]
