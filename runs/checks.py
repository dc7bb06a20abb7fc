"""System checks of the workshop: ``manage.py check`` says what is wrong with the lease settings before a node starts."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Caution
from django.core.exceptions import ImproperlyConfigured

from runs import leases


@register(Tags.compatibility)
def lease_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """``lease >= k * renew_interval + clock_error + longest_commit`` (L5), and what else would lose leases."""
    return [
        (Error if problem.serious else Caution)(problem.text, hint=problem.hint, id=f"runs.{problem.code}")
        for problem in leases.problems(settings.COUNTERSIGN)
    ]


def require_sound(options: Any) -> None:
    """For a node that starts: Celery runs the checks but does not listen to them. Raises ``ImproperlyConfigured``."""
    serious = [f"{problem.text} {problem.hint}" for problem in leases.problems(options) if problem.serious]
    if serious:
        raise ImproperlyConfigured("The node was not started. " + " ".join(serious))
