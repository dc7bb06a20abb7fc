"""Terminal states of actions, and decisions that nobody can rewrite."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("approvals", "0001_initial"), ("accounts", "0002_guards")]
    operations = [
        migrations.RunSQL(
            "CREATE TRIGGER action_terminal BEFORE UPDATE ON approvals_pendingaction FOR EACH ROW"
            " EXECUTE FUNCTION keep_terminal('CONSUMED', 'VOIDED', 'REJECTED', 'CHANGES_REQUESTED', 'ANSWERED',"
            " 'SETTLED', 'EXPIRED', 'WITHDRAWN')",
            "DROP TRIGGER action_terminal ON approvals_pendingaction",
        ),
        migrations.RunSQL(
            "CREATE TRIGGER decision_append_only BEFORE UPDATE OR DELETE ON approvals_decision"
            " FOR EACH ROW EXECUTE FUNCTION refuse_change();"
            "CREATE TRIGGER decision_no_truncate BEFORE TRUNCATE ON approvals_decision"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();",
            "DROP TRIGGER decision_append_only ON approvals_decision;"
            "DROP TRIGGER decision_no_truncate ON approvals_decision;",
        ),
    ]
