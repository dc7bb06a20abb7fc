from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """The desk."""

    name = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Importing it makes known what stored sentences are read with.
        from approvals import sentences  # noqa: F401
