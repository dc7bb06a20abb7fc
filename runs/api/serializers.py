"""What the workshop says and takes over REST. Ids carry their prefix; amounts are text."""

from typing import Any

from rest_framework import serializers

from accounts.ids import public
from runs.models import Artifact, Event, Run, Step
from runs.selectors import intents
from tools import coverage


class AgentRow(serializers.Serializer[Any]):
    """An agent that can be given a task."""

    name = serializers.CharField()
    version = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    input_schema = serializers.JSONField()
    budget = serializers.JSONField()


class UploadRow(serializers.ModelSerializer[Artifact]):
    """A file that is kept and not yet part of a task."""

    id = serializers.SerializerMethodField()

    class Meta:
        model = Artifact
        fields = ("id", "name", "sha256", "size", "media_type", "created_at")

    def get_id(self, file: Artifact) -> str:
        return public("artifact", file.pk)


class TaskBody(serializers.Serializer[Any]):
    """A new task. ``files`` are ids of uploads. ``limits`` lower the agent's budget (amounts as text or whole numbers)."""

    agent = serializers.CharField(max_length=60)
    goal = serializers.CharField(max_length=500)
    input = serializers.DictField(required=False, default=dict)
    files = serializers.ListField(child=serializers.CharField(max_length=60), required=False, default=list)
    limits = serializers.DictField(child=serializers.CharField(max_length=30), required=False, default=dict)
    deadline = serializers.DateTimeField(required=False, allow_null=True, default=None)


class PreviewBody(serializers.Serializer[Any]):
    """A task that is only looked at."""

    agent = serializers.CharField(max_length=60)
    input = serializers.DictField(required=False, default=dict)
    files = serializers.ListField(child=serializers.CharField(max_length=60), required=False, default=list)


class PlanStepRow(serializers.Serializer[Any]):
    """An expected step and its path: ``auto``, ``approval`` or ``blocked``."""

    title = serializers.CharField()
    path = serializers.CharField()
    effect = serializers.CharField()
    why = serializers.CharField()


class PlanRow(serializers.Serializer[Any]):
    """What a task would do. ``coverage``: the percent of its effects that could be undone, by weight."""

    steps = PlanStepRow(many=True)
    coverage = serializers.IntegerField(allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField())


class CancelBody(serializers.Serializer[Any]):
    """Why a task is cancelled."""

    reason = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class TaskRow(serializers.ModelSerializer[Run]):
    """One task in a list."""

    id = serializers.SerializerMethodField()
    submitter = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            *("id", "goal", "agent", "agent_version", "status", "waiting_on", "waiting_since", "submitter"),
            *("steps_ended", "event_seq", "created_at", "last_event_at", "finished_at"),
        )

    def get_id(self, run: Run) -> str:
        return public("run", run.pk)

    def get_submitter(self, run: Run) -> str:
        return str(run.submitter)


class TaskDetail(TaskRow):
    """One task, with what it was given and what came of it. ``reversible_coverage``: the percent of its effects so far that
    can be undone or were, by weight; null while there are none."""

    reversible_coverage = serializers.SerializerMethodField()

    class Meta(TaskRow.Meta):
        fields = (
            *TaskRow.Meta.fields,
            *(
                "input",
                "budget",
                "spent",
                "deadline",
                "result",
                "failure",
                "cancel_requested_at",
                "cancel_reason",
                "reversible_coverage",
            ),
        )

    def get_reversible_coverage(self, run: Run) -> int | None:
        done = [intent.contract for intent in intents.of_run(run.pk) if coverage.counts(intent)]
        return coverage.of_contracts(done).percent


class StepRow(serializers.ModelSerializer[Step]):
    """One step."""

    id = serializers.SerializerMethodField()

    class Meta:
        model = Step
        fields = (
            *("id", "key", "kind", "title", "tool", "status", "attempt", "waiting_on", "output"),
            *("error_code", "error_text", "started_at", "finished_at"),
        )

    def get_id(self, step: Step) -> str:
        return public("step", step.pk)


class EventRow(serializers.ModelSerializer[Event]):
    """One line of history; ``hash`` binds it to the one before."""

    step = serializers.SerializerMethodField()
    hash = serializers.SerializerMethodField()

    class Meta:
        model = Event
        fields = (
            "sequence",
            "type",
            "step",
            "actor",
            "epoch",
            "fence",
            "input_digest",
            "artifacts",
            "payload",
            "at",
            "hash",
        )

    def get_step(self, event: Event) -> str:
        return public("step", event.step_id) if event.step_id else ""

    def get_hash(self, event: Event) -> str:
        return bytes(event.hash).hex()


class FileRow(serializers.ModelSerializer[Artifact]):
    """A file of a task."""

    id = serializers.SerializerMethodField()

    class Meta:
        model = Artifact
        fields = ("id", "kind", "name", "sha256", "size", "media_type", "quarantined", "created_at")

    def get_id(self, file: Artifact) -> str:
        return public("artifact", file.pk)
