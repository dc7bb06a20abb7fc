"""The Celery app. Queue `execution` carries wake-ups to nodes, `coordination` everything else."""

import os
import warnings
from typing import Any

from celery import Celery, signals
from celery.platforms import SecurityWarning

from config.coordinator import CoordinatorStep
from config.readiness import say_ready
from runs.node.bootstep import NodeStep

# The warning about root is about pickle; only JSON is accepted here.
warnings.filterwarnings("ignore", category=SecurityWarning)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("countersign")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# A worker that serves the queue `execution` is a node.
app.steps["worker"].add(NodeStep)
# One that serves `coordination` is a coordinator.
app.steps["worker"].add(CoordinatorStep)


def _require_configuration(**_: Any) -> None:
    from django.conf import settings

    from config.env import require

    require(settings.ENV)


def _say_ready(**_: Any) -> None:
    say_ready()


def _keep_django_logging(**_: Any) -> None:
    """A receiver is enough for Celery to leave logging to the settings."""


for _signal in (signals.celeryd_init, signals.beat_init):
    _signal.connect(_require_configuration)
for _signal in (signals.worker_ready, signals.beat_init):
    _signal.connect(_say_ready)
signals.setup_logging.connect(_keep_django_logging)
