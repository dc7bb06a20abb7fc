"""Steps of a run."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Case, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Left

from runs.models import Step

#: As many steps as one page draws. A run may have a hundred thousand.
MOST = 200
#: As many characters of what a tool said stand on the page of its task.
SHOWN = 4_000


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps in the order of planning; ``total`` counts those that are not drawn too."""

    rows: list[Step]
    total: int
    first: int


def of_run(
    run_id: uuid.UUID, *, after: int = 0, most: int = MOST, live_end: bool = False, answers: bool = False
) -> Steps:
    """Steps with more than ``after`` as their place, planning steps left out; two queries. ``live_end``
    gives the last ones instead: what moves is at the end. ``not_read`` is why a document was refused, if it was; with
    ``answers``, ``said`` is the beginning of what a call gave back, as JSON."""
    rows = (
        Step.objects.filter(run_id=run_id)
        .exclude(kind=Step.Kind.PLAN)
        .select_related("contract", "intent", "owner")
        .annotate(not_read=KeyTextTransform("code", KeyTransform("refused", "output")))
        .defer("input", "output", "contract__input_schema", "contract__output_schema", "contract__config")
    )
    if answers:
        whole = Left(Cast("output", TextField()), SHOWN + 1)
        rows = rows.annotate(said=Case(When(status="SUCCEEDED", then=whole), default=Value("")))
    total = rows.count()
    window = rows.order_by("-seq") if live_end else rows.filter(seq__gt=after).order_by("seq")
    found = sorted(window[:most], key=lambda step: step.seq)
    return Steps(found, total, found[0].seq if found else 0)


def named(run_id: uuid.UUID, ids: Collection[uuid.UUID]) -> list[Step]:
    """The steps with these ids, for their names alone."""
    return list(Step.objects.filter(run_id=run_id, pk__in=set(ids)).only("key", "tool", "title"))
