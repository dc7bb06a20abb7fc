from django.apps import AppConfig


class RunsConfig(AppConfig):
    """The workshop."""

    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Importing them registers the system checks, and what stored sentences are read with.
        from approvals import evidence
        from runs import checks, sentences  # noqa: F401
        from runs.evidence import keep
        from runs.selectors import reads
        from tools import replay

        replay.count_reads(reads.of_tools)
        evidence.keep_with(keep)
