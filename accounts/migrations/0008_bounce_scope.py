import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_audit_keys'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='apitoken',
            name='token_scopes_known',
        ),
        migrations.AlterField(
            model_name='apitoken',
            name='scopes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'Read'), ('submit', 'Submit and cancel tasks'), ('signal', 'Send signals to tasks'), ('decide', 'Decide on actions'), ('webhooks', 'Manage webhooks'), ('bounces', 'Hand in reports of mail servers')], max_length=20), size=None),
        ),
        migrations.AddConstraint(
            model_name='apitoken',
            constraint=models.CheckConstraint(condition=models.Q(('scopes__contained_by', ['read', 'submit', 'signal', 'decide', 'webhooks', 'bounces'])), name='token_scopes_known'),
        ),
    ]
