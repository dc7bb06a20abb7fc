from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """The lowest room."""

    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"
