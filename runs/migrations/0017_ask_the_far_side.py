from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0016_run_successors'),
    ]

    operations = [
        migrations.AlterField(
            model_name='step',
            name='kind',
            field=models.CharField(choices=[('plan', 'Planning'), ('call', 'Tool call'), ('model', 'Model call'), ('person', 'Question to a person'), ('wait', 'Wait'), ('undo', 'Undo'), ('remake', 'Making a file again'), ('query', 'Asking whether it happened')], max_length=8),
        ),
    ]
