"""Terminal states of intents are kept by the database."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("tools", "0001_initial"), ("accounts", "0002_guards")]
    operations = [
        migrations.RunSQL(
            "CREATE TRIGGER intent_terminal BEFORE UPDATE ON tools_intent FOR EACH ROW"
            " EXECUTE FUNCTION keep_terminal('ABANDONED', 'COMPENSATED', 'VOIDED')",
            "DROP TRIGGER intent_terminal ON tools_intent",
        ),
    ]
