"""Celery tasks of the workshop: they only ring. What there is to do stands in the database."""

from celery import shared_task

from runs.engine.resume import resume_decided
from runs.node import bootstep


@shared_task(name="runs.wake", ignore_result=True)  # type: ignore[untyped-decorator]
def wake(**message: object) -> None:
    """``{run_id, step_id, attempt}``: a step became ready. Repeats, delay and loss change nothing but
    latency."""
    bootstep.wake()


@shared_task(name="runs.resume", ignore_result=True)  # type: ignore[untyped-decorator]
def resume(**message: object) -> int:
    """A person decided something."""
    return resume_decided()
