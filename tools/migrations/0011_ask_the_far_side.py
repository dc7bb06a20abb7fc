import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tools', '0010_drifted'),
    ]

    operations = [
        migrations.AddField(
            model_name='contract',
            name='query_answer',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.AddField(
            model_name='contract',
            name='query_arguments',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.AddField(
            model_name='intent',
            name='asks',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='intent',
            name='open_senders',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), blank=True, db_default=[], default=list, size=None),
        ),
        migrations.AddField(
            model_name='intent',
            name='open_since',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='intent',
            name='said',
            field=models.CharField(blank=True, db_default='', default='', max_length=8),
        ),
        migrations.AddField(
            model_name='intent',
            name='said_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
