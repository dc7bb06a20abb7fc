"""What the desk says and takes over REST."""

from typing import Any

from rest_framework import serializers

from accounts.ids import public
from approvals.models import Decision, PendingAction, Verdict


class ActionRow(serializers.ModelSerializer[PendingAction]):
    """One line of the inbox."""

    id = serializers.SerializerMethodField()
    task = serializers.SerializerMethodField()

    class Meta:
        model = PendingAction
        fields: tuple[str, ...] = (
            *("id", "kind", "status", "sentence", "target", "risk", "irreversible", "task", "agent"),
            *("opened_at", "expires_at", "generation", "digest"),
            *("remind_at", "reminders", "escalate_at", "escalated_at", "undecidable_since"),
        )

    def get_id(self, action: PendingAction) -> str:
        return public("pendingaction", action.pk)

    def get_task(self, action: PendingAction) -> str:
        return public("run", action.run_id)


class TakeBackBody(serializers.Serializer[Any]):
    """Why, if it is to be told."""

    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)


class DecisionRow(serializers.ModelSerializer[Decision]):
    """What somebody said."""

    by = serializers.SerializerMethodField()
    stands_for = serializers.SerializerMethodField()

    class Meta:
        model = Decision
        fields = (
            *("verdict", "by", "authority", "stands_for", "decided_by", "channel", "comment", "reference"),
            *("at", "digest_seen"),
        )

    def get_stands_for(self, decision: Decision) -> str:
        """Who was away, when the right is that of a stand-in."""
        return str(decision.stands_for) if decision.stands_for else ""

    def get_by(self, decision: Decision) -> str:
        return str(decision.user) if decision.user else ""


class ActionDetail(ActionRow):
    """Everything that a person would see: ``shown`` are the exact bytes that the digest covers, as JSON text."""

    shown = serializers.SerializerMethodField()
    decisions = serializers.SerializerMethodField()
    why_not = serializers.SerializerMethodField()

    class Meta(ActionRow.Meta):
        fields = (
            *ActionRow.Meta.fields,
            *("verdicts", "second_gesture", "rationale", "evidence", "shown", "decisions", "why_not"),
        )

    def get_shown(self, action: PendingAction) -> str:
        return bytes(action.shown).decode()

    def get_decisions(self, action: PendingAction) -> list[dict[str, Any]]:
        rows = Decision.objects.filter(action=action).select_related("user").order_by("at")
        return list(DecisionRow(rows, many=True).data)

    def get_why_not(self, action: PendingAction) -> list[str]:
        """Why the caller may not approve; empty when they may."""
        return [str(reason) for reason in self.context["refusals"]]


class DecideBody(serializers.Serializer[Any]):
    """One answer. ``gesture`` is the target typed again where the action asks for it; ``more`` is what is added to the
    limit that had stopped a task (seconds, for times) when it is continued; ``answer`` the value that a question of kind
    ``answer`` asks for, fitting the schema among its ``shown`` facts, or ``{"entry": name}`` of a run that is taken over and
    can go on from several places; ``evidence`` addresses of what shows that an outcome is so."""

    verdict = serializers.ChoiceField(choices=[v for v in Verdict.values if v != Verdict.EXPIRE])
    comment = serializers.CharField(required=False, allow_blank=True, max_length=10_000, default="")
    reference = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")
    gesture = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")
    more = serializers.CharField(required=False, allow_blank=True, max_length=20, default="")
    answer = serializers.JSONField(required=False, default=None, allow_null=True)
    evidence = serializers.ListField(
        child=serializers.URLField(max_length=500), required=False, default=list, max_length=20
    )
