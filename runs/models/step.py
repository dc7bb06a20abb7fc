"""Steps and their dependencies."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django_fsm import FSMField, transition

from accounts.models import TenantRow
from runs.models.run import Run
from tools.models import Contract, Intent, WorkerProcess


class Step(TenantRow):
    """One durable step of a run.

    ``key`` is the agent's stable name for it; ``seq`` its place in the order of planning. ``attempt`` numbers claims,
    ``failures`` counts tries that failed, ``losses`` those lost with a worker. ``fence`` is from one global sequence: any
    later claim outranks any earlier one. ``held`` is true while a dependency is unmet; it is computed from the rows under
    the run's lock, never counted. ``ended_seq`` orders finished steps (1, 2, …) for context and summary; plan steps have
    none. ``input`` is ``{"arguments": …, "inputs": [keys of steps whose outputs are added at claim]}``. ``deadline`` is
    set by the first try that failed: no later one starts after it.
    """

    class Kind(models.TextChoices):
        PLAN = "plan", _("Planning")
        CALL = "call", _("Tool call")
        MODEL = "model", _("Model call")
        PERSON = "person", _("Question to a person")
        WAIT = "wait", _("Wait")
        UNDO = "undo", _("Undo")
        REMAKE = "remake", _("Making a file again")
        QUERY = "query", _("Asking whether it happened")

    class Status(models.TextChoices):
        PENDING = "PENDING", _("To come")
        RUNNING = "RUNNING", _("Running")
        WAITING_APPROVAL = "WAITING_APPROVAL", _("Waiting for a person")
        WAITING_EXTERNAL = "WAITING_EXTERNAL", _("Waiting")
        UNKNOWN = "UNKNOWN", _("Unknown outcome")
        SUCCEEDED = "SUCCEEDED", _("Done")
        FAILED = "FAILED", _("Failed")
        SKIPPED = "SKIPPED", _("Skipped")
        CANCELLED = "CANCELLED", _("Cancelled")

    class Pool(models.TextChoices):
        """Which kind of child runs it: an event loop, a thread, or one killable process with limits."""

        ASYNC = "io"
        THREAD = "thread"
        PROCESS = "cpu"

    # Written under the run's lock, and runs stay: docs/decisions/0020.
    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="steps", db_constraint=False, db_index=False
    )
    tenant = models.ForeignKey(
        "accounts.Tenant", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    key = models.CharField(max_length=200)
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    title = models.CharField(max_length=300, blank=True, default="", db_default="")
    tool = models.CharField(max_length=80, blank=True, default="", db_default="")
    contract = models.ForeignKey(
        Contract,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    pool = models.CharField(max_length=8, choices=Pool.choices, default=Pool.ASYNC)
    status = FSMField(max_length=20, choices=Status.choices, default=Status.PENDING, protected=True)
    held = models.BooleanField(default=False, db_default=False)
    attempt = models.PositiveIntegerField(default=0, db_default=0)
    failures = models.PositiveIntegerField(default=0, db_default=0)
    losses = models.PositiveIntegerField(default=0, db_default=0)
    epoch = models.PositiveIntegerField(default=1, db_default=1)
    owner = models.ForeignKey(
        WorkerProcess,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.BigIntegerField(default=0, db_default=0)
    not_before = models.DateTimeField(db_default=Now())
    deadline = models.DateTimeField(null=True, blank=True)
    timeout_seconds = models.PositiveIntegerField(default=60, db_default=60)
    input = models.JSONField(default=dict)
    input_digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    output = models.JSONField(null=True, blank=True)
    error_code = models.CharField(max_length=60, blank=True, default="", db_default="")
    error_text = models.CharField(max_length=1000, blank=True, default="", db_default="")
    intent = models.ForeignKey(
        Intent, null=True, blank=True, on_delete=models.PROTECT, related_name="steps", db_index=False
    )
    waiting_on = models.CharField(max_length=200, blank=True, default="", db_default="")
    tokens = models.PositiveIntegerField(default=0, db_default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0, db_default=0)
    ended_seq = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta(TenantRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["run", "key"], name="step_key_once"),
            models.UniqueConstraint(
                fields=["intent"], condition=Q(intent__isnull=False), name="step_intent_once"
            ),
            models.CheckConstraint(
                condition=(
                    Q(status="RUNNING")
                    & Q(owner__isnull=False)
                    & Q(lease_until__isnull=False)
                    & Q(fence__gt=0)
                )
                | (~Q(status="RUNNING") & Q(owner__isnull=True) & Q(lease_until__isnull=True)),
                name="step_running_has_owner_and_lease",
            ),
            models.CheckConstraint(
                condition=(
                    Q(status__in=["SUCCEEDED", "FAILED", "SKIPPED", "CANCELLED"])
                    & Q(finished_at__isnull=False)
                )
                | (
                    ~Q(status__in=["SUCCEEDED", "FAILED", "SKIPPED", "CANCELLED"])
                    & Q(finished_at__isnull=True)
                ),
                name="step_terminal_has_finished_at",
            ),
            models.CheckConstraint(
                condition=~Q(status="UNKNOWN") | Q(intent__isnull=False), name="step_unknown_has_intent"
            ),
            models.CheckConstraint(condition=~Q(key=""), name="step_has_a_key"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["pool", "tenant", "not_before", "id"],
                name="step_claimable",
                condition=Q(status="PENDING", held=False),
            ),
            models.Index(fields=["tenant", "lease_until"], name="step_lease", condition=Q(status="RUNNING")),
            models.Index(
                fields=["run"],
                name="step_live",
                condition=Q(
                    status__in=["PENDING", "RUNNING", "WAITING_APPROVAL", "WAITING_EXTERNAL", "UNKNOWN"]
                ),
            ),
            models.Index(
                fields=["deadline"],
                name="step_timer",
                condition=Q(status="WAITING_EXTERNAL", deadline__isnull=False),
            ),
            models.Index(
                fields=["tenant", "tool", "not_before"],
                name="step_held_back",
                condition=Q(status="WAITING_EXTERNAL", error_code__in=["in_line", "quota"]),
            ),
            models.Index(
                fields=["run", "ended_seq"], name="step_ended", condition=Q(ended_seq__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.key

    _WAITING = [Status.WAITING_APPROVAL, Status.WAITING_EXTERNAL]

    @transition(field=status, source=Status.PENDING, target=Status.RUNNING)
    def claim(self) -> None:
        """A node took a lease and a new fence token."""

    @transition(field=status, source=Status.RUNNING, target=Status.PENDING)
    def give_back(self) -> None:
        """Retry, reclaim, drain, or planned against an old version."""

    @transition(field=status, source=[Status.RUNNING, Status.UNKNOWN, *_WAITING], target=Status.SUCCEEDED)
    def succeed(self) -> None:
        """Done."""

    @transition(
        field=status, source=[Status.RUNNING, Status.UNKNOWN, *_WAITING, Status.PENDING], target=Status.FAILED
    )
    def fail(self) -> None:
        """Known not to have happened, or it cannot."""

    @transition(field=status, source=[Status.PENDING, Status.RUNNING, *_WAITING], target=Status.UNKNOWN)
    def doubt(self) -> None:
        """The database was restored: its effect may have happened in the time that is lost."""

    @transition(field=status, source=Status.RUNNING, target=Status.UNKNOWN)
    def lose(self) -> None:
        """Its effect may or may not have happened."""

    @transition(field=status, source=[Status.RUNNING, Status.PENDING], target=Status.WAITING_APPROVAL)
    def wait_for_person(self) -> None:
        """A person must decide first."""

    @transition(field=status, source=[Status.RUNNING, Status.PENDING], target=Status.WAITING_EXTERNAL)
    def wait_outside(self) -> None:
        """Gate, budget, quota, switch or a signal holds it."""

    @transition(field=status, source=[*_WAITING, Status.UNKNOWN], target=Status.PENDING)
    def resume(self) -> None:
        """The wait is over: new epoch."""

    @transition(field=status, source=Status.WAITING_APPROVAL, target=Status.SKIPPED)
    def skip(self) -> None:
        """A person left it out."""

    @transition(field=status, source=[Status.PENDING, Status.RUNNING, *_WAITING], target=Status.CANCELLED)
    def cancel(self) -> None:
        """The run was cancelled, or a dependency was not met."""


class StepDependency(models.Model):
    """``step`` may start when ``needs`` has ended as ``rule`` asks. Readiness is derived from these rows, never counted."""

    class Rule(models.TextChoices):
        SUCCEEDED = "succeeded"
        ENDED = "ended"

    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="dependencies")
    needs = models.ForeignKey(Step, on_delete=models.PROTECT, related_name="dependants")
    rule = models.CharField(max_length=10, choices=Rule.choices, default=Rule.SUCCEEDED)
    consumed_fence = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["step", "needs"], name="dependency_once")]
