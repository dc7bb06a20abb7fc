"""Intents: the record that exists before an effect."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django_fsm import FSMField, transition

from accounts.models import TenantRow
from tools.models.contract import Contract, Tool
from tools.models.worker import WorkerProcess


class Intent(TenantRow):
    """One effect that a step wants, under a key that never changes (L8).

    ``run_id`` and ``step_id`` are opaque here: this room knows nothing of runs. ``grant`` is the pending
    action whose approval authorised it, empty when the gate did. ``resource`` names what it is put in order on,
    empty when nothing asks for an order. ``deadline`` is the instant after which
    the far side or the sender itself refuses to act. ``sender_done_at``: the sender of the current dispatch
    itself reported that it has stopped sending. ``settled`` is a person's answer to an unknown outcome,
    kept while it cannot take effect yet. REJECTED always means: known not to have happened. ``verdict`` is the gate's last
    word, as :meth:`tools.gate.Verdict.as_json` has it.

    ``open_since`` and ``open_senders`` stand while it was sent again although the outcome of an earlier dispatch was open:
    when the first of those was made, and who sent them. ``asks`` counts the answers of its result query since the last
    dispatch; ``said`` is the newest (``yes``, ``no``, ``unsure``), to a question put at ``said_at``.
    """

    class Status(models.TextChoices):
        PROPOSED = "PROPOSED", _("Proposed")
        AUTHORISED = "AUTHORISED", _("Authorised")
        DISPATCHED = "DISPATCHED", _("Being sent")
        CONFIRMED = "CONFIRMED", _("Confirmed")
        REJECTED = "REJECTED", _("Known not to have happened")
        UNKNOWN = "UNKNOWN", _("Unknown outcome")
        ABANDONED = "ABANDONED", _("Nobody can know")
        COMPENSATED = "COMPENSATED", _("Undone")
        VOIDED = "VOIDED", _("Never sent")

    key = models.CharField(max_length=300)
    run_id = models.UUIDField()
    step_id = models.UUIDField()
    tool = models.ForeignKey(Tool, on_delete=models.PROTECT, related_name="intents")
    contract = models.ForeignKey(Contract, on_delete=models.PROTECT, related_name="intents")
    arguments = models.JSONField(default=dict)
    target = models.CharField(max_length=500, blank=True)
    resource = models.CharField(max_length=300, blank=True, default="", db_default="")
    request_digest = models.CharField(max_length=64)
    verdict = models.JSONField(default=dict, blank=True, db_default={})
    drift = models.JSONField(default=list, blank=True)
    status = FSMField(max_length=12, choices=Status.choices, default=Status.PROPOSED, protected=True)
    grant = models.UUIDField(null=True, blank=True)
    epoch = models.PositiveIntegerField(default=0)
    fence = models.BigIntegerField(default=0)
    sender = models.ForeignKey(
        WorkerProcess, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    dispatch_id = models.UUIDField(null=True, blank=True)
    dispatches = models.PositiveIntegerField(default=0)
    dispatched_at = models.DateTimeField(null=True, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    sender_done_at = models.DateTimeField(null=True, blank=True)
    open_since = models.DateTimeField(null=True, blank=True)
    open_senders = ArrayField(models.UUIDField(), default=list, db_default=[], blank=True)
    asks = models.PositiveSmallIntegerField(default=0, db_default=0)
    said = models.CharField(max_length=8, blank=True, default="", db_default="")
    said_at = models.DateTimeField(null=True, blank=True)
    answer = models.JSONField(null=True, blank=True)
    reference = models.CharField(max_length=500, blank=True)
    evidence = models.JSONField(default=list, blank=True)
    unknown_since = models.DateTimeField(null=True, blank=True)
    settled = models.CharField(max_length=20, blank=True)
    compensation_snapshot = models.JSONField(null=True, blank=True)
    compensates = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["key"], name="intent_key_once"),
            models.CheckConstraint(condition=~Q(key=""), name="intent_has_a_key"),
            models.CheckConstraint(
                condition=~Q(status__in=["DISPATCHED", "CONFIRMED", "UNKNOWN", "COMPENSATED", "ABANDONED"])
                | Q(dispatch_id__isnull=False),
                name="intent_sent_has_a_dispatch",
            ),
            models.CheckConstraint(
                condition=~Q(status="UNKNOWN") | Q(unknown_since__isnull=False), name="intent_unknown_since"
            ),
        ]
        indexes = [
            models.Index(fields=["run_id"], name="intent_by_run"),
            models.Index(fields=["tenant", "-created_at"], name="intent_newest"),
            models.Index(
                fields=["status"], name="intent_open", condition=Q(status__in=["DISPATCHED", "UNKNOWN"])
            ),
            models.Index(
                fields=["tenant", "resource"],
                name="intent_on_resource",
                condition=Q(status__in=["AUTHORISED", "DISPATCHED", "UNKNOWN"]) & ~Q(resource=""),
            ),
        ]

    @transition(field=status, source=Status.PROPOSED, target=Status.AUTHORISED)
    def authorise(self) -> None:
        """A person, or the gate, allowed it."""

    @transition(field=status, source=Status.AUTHORISED, target=Status.PROPOSED)
    def revoke(self) -> None:
        """The grant was voided: it must be asked for again."""

    @transition(field=status, source=Status.AUTHORISED, target=Status.DISPATCHED)
    def dispatch(self) -> None:
        """Begin: from here on only the sender knows."""

    @transition(field=status, source=Status.UNKNOWN, target=Status.DISPATCHED)
    def send_again(self) -> None:
        """The far side drops repeats of the key: sending once more gives its first answer, or the effect."""

    @transition(
        field=status,
        source=[Status.DISPATCHED, Status.UNKNOWN, Status.REJECTED, Status.PROPOSED, Status.AUTHORISED],
        target=Status.CONFIRMED,
    )
    def confirm(self) -> None:
        """It happened: the truth of the world, from whoever reports it. From PROPOSED and AUTHORISED only
        after an earlier dispatch, whose report comes late: it must stop the next one."""

    @transition(field=status, source=[Status.DISPATCHED, Status.UNKNOWN], target=Status.REJECTED)
    def refuse(self) -> None:
        """Known not to have happened."""

    @transition(field=status, source=Status.DISPATCHED, target=Status.UNKNOWN)
    def lose(self) -> None:
        """Nobody can tell: a person settles it."""

    @transition(
        field=status,
        source=[Status.PROPOSED, Status.AUTHORISED, Status.DISPATCHED, Status.REJECTED, Status.UNKNOWN],
        target=Status.UNKNOWN,
    )
    def doubt(self) -> None:
        """The database was restored: it may have been sent in the time that is lost."""

    @transition(field=status, source=Status.UNKNOWN, target=Status.ABANDONED)
    def abandon(self) -> None:
        """A person recorded that nobody can know."""

    @transition(field=status, source=Status.REJECTED, target=Status.AUTHORISED)
    def allow_again(self) -> None:
        """Same key, same digest, authority checked again."""

    @transition(field=status, source=Status.REJECTED, target=Status.PROPOSED)
    def ask_again(self) -> None:
        """The authority drifted meanwhile."""

    @transition(field=status, source=Status.CONFIRMED, target=Status.COMPENSATED)
    def undo(self) -> None:
        """Its compensation was confirmed."""

    @transition(
        field=status, source=[Status.PROPOSED, Status.AUTHORISED, Status.REJECTED], target=Status.VOIDED
    )
    def void(self) -> None:
        """Never sent, and never will be."""
