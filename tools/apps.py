from django.apps import AppConfig


class ToolsConfig(AppConfig):
    """The workbench."""

    name = "tools"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Importing it makes known what stored sentences are read with.
        from tools import sentences  # noqa: F401
