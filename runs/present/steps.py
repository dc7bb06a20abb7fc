"""Steps as a table."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.said import read
from approvals.models import PendingAction, Verdict
from runs.models import Artifact, Step
from runs.present.names import step_name
from runs.selectors.steps import SHOWN
from tools import fences, gate
from tools.models import EffectClass
from tools.reasons import told

_MARKS = {EffectClass.READ_ONLY: "eye", EffectClass.COMPENSABLE: "undo-2", EffectClass.IRREVERSIBLE: "seal"}


@dataclass(frozen=True, slots=True)
class Path:
    """How the gate let it through: by itself, by a person, not at all."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step as a row of ``runs/partials/steps.html``; ``took`` in seconds, ``behind_url`` the task whose effect it waits
    for, ``answer`` what its tool said, as JSON and cut at :data:`SHOWN` characters."""

    id: str
    seq: int
    name: str
    status: str
    path: Path
    attempts: int
    took: float | None
    result_label: str
    result_url: str
    note: str
    behind_url: str = ""
    why: Sequence[str] = ()
    answer: str = ""


def rows(steps: Iterable[Step], actions: Sequence[PendingAction], files: Iterable[Artifact]) -> list[StepRow]:
    """The steps in the order given."""
    made: dict[uuid.UUID | None, list[Artifact]] = {}
    for file in files:
        if not file.quarantined:
            made.setdefault(file.step_id, []).append(file)
    asked: dict[uuid.UUID | None, PendingAction] = {
        action.step_id: action for action in actions if action.kind == PendingAction.Kind.APPROVE
    }
    drawn = list(steps)
    behind = _behind(drawn)
    return [
        replace(_row(place, step, asked.get(step.pk), made), behind_url=behind.get(step.pk, ""))
        for place, step in enumerate(drawn, start=1)
    ]


def _behind(steps: Sequence[Step]) -> dict[uuid.UUID, str]:
    """Where those that wait for their turn on a resource find whom they wait for."""
    waiting = {
        step.pk: step.intent.resource
        for step in steps
        if step.error_code == "in_line" and step.intent is not None
    }
    if not waiting:
        return {}
    holders = fences.holders(tenant_id=steps[0].tenant_id, resources=set(waiting.values()))
    return {
        pk: reverse("runs:task_detail", args=[holders[resource].run_id])
        for pk, resource in waiting.items()
        if resource in holders
    }


def _row(
    place: int, step: Step, action: PendingAction | None, made: Mapping[uuid.UUID | None, list[Artifact]]
) -> StepRow:
    files = made.get(step.pk) or []
    took = (
        (step.finished_at - step.started_at).total_seconds() if step.finished_at and step.started_at else None
    )
    label = ", ".join(file.name for file in files)
    if not label and step.intent is not None and step.intent.status == "CONFIRMED":
        label = step.intent.reference or _("confirmed")
    return StepRow(
        id=step.pk.hex,
        seq=place,
        name=step_name(step),
        status=step.status,
        path=_path(step, action),
        attempts=step.attempt,
        took=took,
        result_label=label,
        result_url=f"#artifact-{files[0].pk.hex}" if files else "",
        why=_why(step),
        answer=_answer(step),
        note=read(
            step.error_text
            or (step.waiting_on if step.status.startswith("WAITING") or step.status == "RUNNING" else "")
        ),
    )


def _answer(step: Step) -> str:
    said = getattr(step, "said", None) or ""
    return said if len(said) <= SHOWN else said[:SHOWN] + " …"


def _why(step: Step) -> list[str]:
    """The gate's last word on it, with reasons: why it ran by itself, asks a person or is held back."""
    if step.intent is not None:
        return told(step.intent.verdict.get("reasons"))
    if step.contract is not None and step.error_code != "blocked":
        return [str(gate.free(step.contract.effect_class))]
    return []


def _path(step: Step, action: PendingAction | None) -> Path:
    if action is None:
        effect = step.contract.effect_class if step.contract else EffectClass.READ_ONLY
        if step.error_code == "blocked":
            return Path("failed", _("blocked"))
        return Path(_MARKS.get(EffectClass(effect), "eye"), _("by itself"))
    if action.status == "OPEN":
        return Path("waiting", _("asks a person"))
    decision = next((one for one in reversed(list(action.decisions.all()))), None)
    if decision is None:
        return Path("stopped", str(action.get_status_display()).lower())
    who = decision.user or _("nobody in time")
    verdict = Verdict(decision.verdict)
    if verdict == Verdict.APPROVE:
        given = sorted(action.decisions.all(), key=lambda one: one.at)
        signed = dict.fromkeys(str(one.user) for one in given if one.verdict == Verdict.APPROVE)
        return Path("person", _("approved by %(who)s") % {"who": ", ".join(signed)})
    return Path("stopped", _("%(verdict)s by %(who)s") % {"verdict": str(verdict.label).lower(), "who": who})
