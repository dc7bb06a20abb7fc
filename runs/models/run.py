"""Runs."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django_fsm import FSMField, transition

from accounts.ids import new_id
from accounts.models import Tenant, TenantRow, User


class Run(TenantRow):
    """One execution of a task.

    ``version`` rises with every commit and is what plans are made against; ``event_seq`` and ``event_hash`` are the end of
    the run's history. The newest checkpoint's summary is a fold over the ``summarised`` oldest ended steps. ``budget`` and
    ``spent`` count tool_calls, model_calls, tokens, cost (currency units as text), wall_seconds (of ``spent`` as text;
    time spent waiting does not count) and steps; see ``runs.budget``. ``deadline`` is an instant and waits for nobody.
    ``contracts`` pins the tools that the agent declares: ``{tool: contract id}``. ``lineage`` is the first run of a chain
    of redrives: idempotency keys hang on it. ``restored`` is the generation of the last restore that found
    it live: what it does since may have been done before. ``takeover`` is the question that holds the run: until a person
    has answered it, what is under way ends and nothing new starts, neither step nor effect.
    """

    class Status(models.TextChoices):
        PENDING = "PENDING", _("Waiting to start")
        RUNNING = "RUNNING", _("Running")
        WAITING_APPROVAL = "WAITING_APPROVAL", _("Waiting for a person")
        WAITING_EXTERNAL = "WAITING_EXTERNAL", _("Waiting")
        PAUSED = "PAUSED", _("Paused")
        CANCEL_REQUESTED = "CANCEL_REQUESTED", _("Stopping")
        COMPENSATING = "COMPENSATING", _("Undoing")
        SUCCEEDED = "SUCCEEDED", _("Done")
        FAILED = "FAILED", _("Failed")
        CANCELLED = "CANCELLED", _("Cancelled")

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False)
    agent = models.CharField(max_length=60)
    agent_version = models.CharField(max_length=20)
    agent_digest = models.CharField(max_length=64)
    submitter = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    goal = models.CharField(max_length=500)
    input = models.JSONField(default=dict)
    input_digest = models.CharField(max_length=64)
    status = FSMField(max_length=20, choices=Status.choices, default=Status.PENDING, protected=True)
    version = models.BigIntegerField(default=0)
    epoch = models.PositiveIntegerField(default=1)
    restored = models.PositiveIntegerField(default=0, db_default=0)
    phase = models.CharField(max_length=200, blank=True, default="", db_default="")
    waiting_on = models.CharField(max_length=200, blank=True, default="", db_default="")
    waiting_since = models.DateTimeField(null=True, blank=True)
    contracts = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    budget = models.JSONField(default=dict)
    spent = models.JSONField(default=dict)
    summarised = models.PositiveIntegerField(default=0)
    steps_ended = models.PositiveIntegerField(default=0)
    result = models.JSONField(null=True, blank=True)
    failure = models.JSONField(null=True, blank=True)
    lineage = models.UUIDField(default=new_id)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children", db_index=False
    )
    submit_key = models.CharField(max_length=120)
    event_seq = models.BigIntegerField(default=0)
    event_hash = models.BinaryField(max_length=32, default=bytes(32))
    deadline = models.DateTimeField(null=True, blank=True)
    takeover = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    last_event_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    cancel_reason = models.CharField(max_length=500, blank=True, default="", db_default="")

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "submit_key"], name="run_submit_key_once"),
            models.CheckConstraint(condition=~Q(submit_key=""), name="run_submit_key_not_empty"),
            models.CheckConstraint(
                condition=(Q(status__in=["SUCCEEDED", "FAILED", "CANCELLED"]) & Q(finished_at__isnull=False))
                | (~Q(status__in=["SUCCEEDED", "FAILED", "CANCELLED"]) & Q(finished_at__isnull=True)),
                name="run_terminal_has_finished_at",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["CANCEL_REQUESTED", "CANCELLED"])
                | Q(cancel_requested_at__isnull=False),
                name="run_cancel_was_requested",
            ),
            models.CheckConstraint(
                condition=Q(erased_at__isnull=True) | Q(finished_at__isnull=False),
                name="run_erased_has_ended",
            ),
            models.CheckConstraint(
                condition=Q(summarised__lte=F("steps_ended")), name="run_summary_of_ended_steps"
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "-finished_at"],
                name="run_newest_end",
                condition=Q(finished_at__isnull=False),
            ),
            models.Index(fields=["parent"], name="run_successors", condition=Q(parent__isnull=False)),
            models.Index(
                fields=["tenant", "finished_at"],
                name="run_to_erase",
                condition=Q(finished_at__isnull=False, erased_at__isnull=True),
            ),
            models.Index(fields=["tenant", "status", "waiting_since"], name="run_by_status"),
            models.Index(
                fields=["tenant"],
                name="run_live_of_tenant",
                condition=~Q(status__in=["SUCCEEDED", "FAILED", "CANCELLED"]),
            ),
        ]

    def __str__(self) -> str:
        return self.goal

    _WAITING = [Status.WAITING_APPROVAL, Status.WAITING_EXTERNAL, Status.PAUSED]
    _MOVING = [Status.PENDING, Status.RUNNING, *_WAITING]

    @transition(field=status, source=[Status.PENDING, *_WAITING], target=Status.RUNNING)
    def go_on(self) -> None:
        """Something of the run can move."""

    @transition(
        field=status, source=[Status.RUNNING, Status.WAITING_EXTERNAL], target=Status.WAITING_APPROVAL
    )
    def wait_for_person(self) -> None:
        """Nothing can move until a person decides."""

    @transition(
        field=status, source=[Status.RUNNING, Status.WAITING_APPROVAL], target=Status.WAITING_EXTERNAL
    )
    def wait_outside(self) -> None:
        """Nothing can move until something outside happens."""

    @transition(
        field=status,
        source=[Status.RUNNING, Status.WAITING_APPROVAL, Status.WAITING_EXTERNAL],
        target=Status.PAUSED,
    )
    def pause(self) -> None:
        """A person holds it."""

    @transition(field=status, source=Status.RUNNING, target=Status.SUCCEEDED)
    def succeed(self) -> None:
        """The agent said it is finished, and nothing is open."""

    @transition(field=status, source=[Status.RUNNING, Status.COMPENSATING], target=Status.FAILED)
    def fail(self) -> None:
        """It cannot go on, and nothing is left to undo."""

    @transition(field=status, source=[Status.RUNNING, Status.CANCEL_REQUESTED], target=Status.COMPENSATING)
    def compensate(self) -> None:
        """Effects are being undone."""

    @transition(field=status, source=[*_MOVING, Status.COMPENSATING], target=Status.CANCEL_REQUESTED)
    def request_cancel(self) -> None:
        """Nothing new starts."""

    @transition(field=status, source=[Status.CANCEL_REQUESTED, Status.COMPENSATING], target=Status.CANCELLED)
    def cancelled(self) -> None:
        """Every effect is done, undone, cannot be undone, or settled."""
