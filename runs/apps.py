from django.apps import AppConfig


class RunsConfig(AppConfig):
    """The workshop."""

    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Importing it registers the system checks.
        from runs import checks  # noqa: F401
