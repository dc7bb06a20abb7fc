from django.apps import AppConfig


class ToolsConfig(AppConfig):
    """The workbench."""

    name = "tools"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Importing them makes known what stored sentences are read with, and registers the system checks.
        from tools import checks, sentences  # noqa: F401
