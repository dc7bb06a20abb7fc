"""Settings of a node whose broker takes two seconds of silence for a death (B01)."""

from config.settings import *  # noqa: F403
from config.settings import CELERY_BROKER_TRANSPORT_OPTIONS as _OPTIONS

CELERY_BROKER_TRANSPORT_OPTIONS = {**_OPTIONS, "visibility_timeout": 2}
