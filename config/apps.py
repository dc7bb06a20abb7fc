from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Installed for its management commands and system checks; it has no tables."""

    name = "config"
    label = "config"
    verbose_name = "Countersign"

    def ready(self) -> None:
        from config.routes import wire

        wire()
