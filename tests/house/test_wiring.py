"""Names in the wiring are names of tasks; a bell with a wrong name would ring nowhere, silently."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from config import wiring
from config.celery import app


def tasks() -> dict[str, Any]:
    app.loader.import_default_modules()
    return {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}


def test_every_wired_task_exists() -> None:
    wired = {name for names in wiring.ROUTES.values() for name in names} | set(wiring.RINGS)
    assert wired - set(tasks()) == set()


def test_only_wake_ups_reach_the_nodes() -> None:
    """On a solo worker a long task would hold up wake-ups and the bell of every other node."""
    queues = {name: app.amqp.router.route({}, name)["queue"].name for name in tasks()}
    assert {name for name, queue in queues.items() if queue == "execution"} == {"runs.wake"}
    assert set(queues.values()) == {"execution", "coordination"}
    assert settings.CELERY_TASK_DEFAULT_QUEUE == "coordination"


def test_beat_only_rings() -> None:
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert entry["options"]["expires"] <= entry["schedule"]
        assert "args" not in entry


def test_messages_are_json_alone() -> None:
    assert list(app.conf.accept_content) == ["json"]
    assert app.conf.task_serializer == "json"
    assert app.conf.task_ignore_result is True
