import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0008_bounce_scope'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='coverage_floor',
            field=models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MaxValueValidator(100)]),
        ),
        migrations.AddConstraint(
            model_name='tenant',
            constraint=models.CheckConstraint(condition=models.Q(('coverage_floor__lte', 100)), name='tenant_coverage_floor_percent'),
        ),
    ]
