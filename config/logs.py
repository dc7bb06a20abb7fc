"""Structured logs: readable lines in a terminal, JSON for a collector; standard library loggers included."""

from __future__ import annotations

import logging.config
import os
import sys
from typing import Any

import structlog

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def _colours() -> bool:
    if "NO_COLOR" in os.environ:
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stderr.isatty()


def logging_config(fmt: str, level: str) -> dict[str, Any]:
    renderer: list[Any] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if fmt == "json"
        else [
            structlog.dev.ConsoleRenderer(
                colors=_colours(),
                pad_event_to=0,
                # The default one prints the value of every variable, passwords and tokens among them.
                exception_formatter=structlog.dev.plain_traceback,
            )
        ]
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "plain": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "celery.beat": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "daphne": {"level": "WARNING"},
            "django.request": {"level": "ERROR"},
            "fontTools": {"level": "WARNING"},
            "mail.log": {"level": "WARNING"},
            "uvicorn.access": {"level": "WARNING"},
        },
    }


def configure(config: dict[str, Any]) -> None:
    """Called by Django with `LOGGING`; sets the standard library and structlog to the same output."""
    logging.config.dictConfig(config)
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
