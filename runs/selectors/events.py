"""The history of a run."""

import uuid
from collections.abc import Iterator

from runs import timeline
from runs.models import Event, Run

PAGE = 100


def newest(run_id: uuid.UUID) -> int:
    """The highest sequence that is committed; what a socket answers on connect. 0 for a run of another
    tenant."""
    found = Run.objects.filter(pk=run_id).values_list("event_seq", flat=True).first()
    return int(found or 0)


def page(run_id: uuid.UUID, *, before: int = 0, family: str = "", size: int = PAGE) -> list[Event]:
    """Events of a run, newest first, below sequence ``before`` (0: from the end), of one family of types or
    of all."""
    rows = timeline.of_run(run_id)
    if before:
        rows = rows.filter(sequence__lt=before)
    if family:
        rows = rows.filter(type__startswith=f"{family}.")
    return list(rows.order_by("-sequence")[:size])


def of_steps(run_id: uuid.UUID, step_ids: list[uuid.UUID], *, most: int = 2000) -> list[Event]:
    """Events of these steps in order: what the attempts on a time axis are drawn from."""
    rows = timeline.of_run(run_id).filter(step_id__in=step_ids)
    return list(rows.order_by("-sequence")[:most])[::-1]


def stream(run_id: uuid.UUID) -> Iterator[Event]:
    """The whole history in order, without holding it in memory."""
    return timeline.of_run(run_id).order_by("sequence").iterator(chunk_size=500)
