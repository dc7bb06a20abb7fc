"""What a sender says about itself, and published contracts that no SQL can change."""

from django.db import migrations, models

FUNCTION = """
CREATE FUNCTION keep_published() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = 'DRAFT' THEN
        RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - 'status' = to_jsonb(OLD) - 'status'
            AND (NEW.status = OLD.status OR (OLD.status = 'PUBLISHED' AND NEW.status = 'RETIRED')) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'contract % is %, it can only be retired: % refused', OLD.id, OLD.status, TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER contract_published_stays BEFORE UPDATE OR DELETE ON tools_contract
    FOR EACH ROW EXECUTE FUNCTION keep_published();
"""
DROP = "DROP TRIGGER contract_published_stays ON tools_contract; DROP FUNCTION keep_published();"


class Migration(migrations.Migration):
    dependencies = [("tools", "0002_guards")]
    operations = [
        migrations.AddField(
            model_name="intent",
            name="sender_done_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunSQL(FUNCTION, DROP),
    ]
