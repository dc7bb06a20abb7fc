from django.apps import AppConfig


class OutboxConfig(AppConfig):
    """The post room."""

    name = "outbox"
    default_auto_field = "django.db.models.BigAutoField"
