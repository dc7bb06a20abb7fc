"""Webhooks whole: names, rotation, order of a subject, attempts one by one."""

import accounts.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("outbox", "0001_initial"),
        ("accounts", "0005_restore"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(model_name="webhookdelivery", name="webhook_due"),
        migrations.RenameField(model_name="webhookendpoint", old_name="topics", new_name="events"),
        migrations.RenameField(model_name="webhookdelivery", old_name="topic", new_name="type"),
        migrations.CreateModel(
            name='WebhookAttempt',
            fields=[
                ('id', models.UUIDField(default=accounts.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('milliseconds', models.PositiveIntegerField()),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('error', models.CharField(blank=True, default='', max_length=300)),
                ('answer', models.CharField(blank=True, default='', max_length=500)),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'everywhere',
            },
            managers=[
                ('objects', django.db.models.manager.Manager()),
                ('everywhere', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddField(
            model_name='webhookdelivery',
            name='created_at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
        ),
        migrations.AddField(
            model_name='webhookdelivery',
            name='key',
            field=models.CharField(blank=True, default='', max_length=80),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='created_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='disabled_why',
            field=models.CharField(blank=True, default='', max_length=300),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='failing_since',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='name',
            field=models.CharField(default='', max_length=80),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='old_secrets_until',
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name='webhookendpoint',
            name='events',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), blank=True, default=list, size=None),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(condition=models.Q(('dead_at__isnull', True), ('delivered_at__isnull', True)), fields=['endpoint', 'next_attempt_at'], name='webhook_due'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(condition=models.Q(('dead_at__isnull', True), ('delivered_at__isnull', True), models.Q(('key', ''), _negated=True)), fields=['endpoint', 'key', 'event_id'], name='webhook_key_head'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(fields=['delivered_at'], name='webhook_delivered'),
        ),
        migrations.AddConstraint(
            model_name='webhookdelivery',
            constraint=models.CheckConstraint(condition=models.Q(('delivered_at__isnull', True), ('dead_at__isnull', True), _connector='OR'), name='webhook_delivered_or_dead'),
        ),
        migrations.AddField(
            model_name='webhookattempt',
            name='delivery',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tries', to='outbox.webhookdelivery'),
        ),
        migrations.AddField(
            model_name='webhookattempt',
            name='tenant',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant'),
        ),
    ]
