"""What the workshop tells of itself in numbers (S12, L20). All tenants; reads only, each bounded: counters come
from the tallies, the rest from partial indexes and small tables."""

from collections.abc import Iterable

from prometheus_client.core import Metric

from accounts.metrics import Family, counter, gauge, histogram
from accounts.statements import run
from runs import histogram as growing
from runs import tallies
from runs.selectors.health import movement

RUNS = gauge("runs", "Runs that have not ended, by state.", "status")
RUN_AGE = gauge(
    "run_state_age_seconds",
    "How long runs have been in their state: since they began to wait, were submitted, were asked to stop; RUNNING: since "
    "their last event. Up to 10,000 runs of each state.",
    "status",
    "quantile",
)
SUBMITTED = counter("runs_submitted", "Runs that were submitted.")
ENDED = counter("runs_ended", "Runs that ended, by state. The share that succeeds follows from it.", "status")
RUN_SECONDS = histogram(
    "run_seconds", "From submission to the end of a run.", "status", buckets=tallies.LONG_BOUNDS
)
CANCEL_SECONDS = histogram(
    "cancel_seconds", "From the wish to cancel a run to its end.", buckets=tallies.SHORT_BOUNDS
)
SPENT = counter(
    "run_spent",
    "What ended runs used: steps, tool_calls, model_calls, tokens, cost (currency units), wall_seconds. Divided by the "
    "ended runs it is what one run uses.",
    "what",
)
TAKEOVERS = counter(
    "takeovers", "Runs that a person had to take over, by cause; `loop` are loops without progress.", "code"
)
STEPS = counter("steps_ended", "Steps that ended, by kind and outcome.", "kind", "outcome")
BACK = counter(
    "steps_given_back",
    "Attempts that ended without ending their step: retried, lost with a worker, drained, waiting, revoked, stood_in, "
    "over_quota, in_line.",
    "kind",
    "why",
)
STEP_SECONDS = histogram(
    "step_seconds", "Execution of steps that succeeded or failed.", "kind", buckets=tallies.STEP_BOUNDS
)
READY_AGE = gauge(
    "oldest_ready_step_seconds", "How long the oldest step that could be claimed has been ready; 0: none."
)
LAST_CLAIM = gauge("last_claim_seconds", "How long ago any worker last claimed a step.")
LEASES = gauge("leases", "Steps that workers hold now.")
LEFT = gauge("lease_remaining_seconds", "What is left of the leases held now.", "quantile")
LEFT_RENEWED = gauge(
    "lease_remaining_at_renewal_seconds",
    "What was left of leases when they were renewed, over this hour and the last. Buckets grow by a fifth.",
    "quantile",
)
RENEWALS = gauge(
    "lease_renewals_recent", "Rounds of renewals over this hour and the last, by result.", "result"
)
RENEWAL_FAILURES = gauge("lease_renewal_failure_ratio", "The share of those that failed.")
LOST = counter(
    "leases_lost", "Steps taken back from a worker: its lease expired, or it is proven gone.", "why"
)
RECOVERY = histogram(
    "recovery_seconds",
    "From the last sign of a lost worker to the next claim of a step that it had.",
    buckets=tallies.SHORT_BOUNDS,
)
EXECUTORS = gauge(
    "step_executors_max",
    "The most workers that may be at work on one running step: its owner, and former owners that lost their lease and are "
    "not proven gone. 1 is right.",
)
SHARED = gauge("steps_with_several_executors", "Running steps with more than one.")
LATE = counter(
    "results_after_loss", "Results that came after their worker had lost the step: kept in quarantine."
)
FENCED = counter(
    "fence_rejections",
    "Begins and outcomes refused because of owner, fence, epoch, lease or a newer token on the resource (F).",
    "at",
)
DEDUP = counter("dedup_hits", "Repeats that were given the first answer instead of doing it again (D).", "at")
CONFLICTS = counter("terminal_conflicts", "Messages for runs that had ended.", "what")
EFFECTS = counter("effects_requested", "Effects that were sent.")
UNKNOWN = counter("effects_unknown", "Effects whose outcome became unknown.")
DAMAGED = counter("artifacts_damaged", "Artifacts found missing or corrupt, by what was done.", "done")
COUNTED = gauge("history_counted_seconds", "How long ago the counters above were last brought up to date.")

FAMILIES: tuple[Family, ...] = (
    *(
        RUNS,
        RUN_AGE,
        SUBMITTED,
        ENDED,
        RUN_SECONDS,
        CANCEL_SECONDS,
        SPENT,
        TAKEOVERS,
        STEPS,
        BACK,
        STEP_SECONDS,
    ),
    *(
        READY_AGE,
        LAST_CLAIM,
        LEASES,
        LEFT,
        LEFT_RENEWED,
        RENEWALS,
        RENEWAL_FAILURES,
        LOST,
        RECOVERY,
        EXECUTORS,
        SHARED,
    ),
    *(LATE, FENCED, DEDUP, CONFLICTS, EFFECTS, UNKNOWN, DAMAGED, COUNTED),
)
_QUANTILES = ("0.01", "0.5", "0.95", "1")


def read() -> Iterable[Metric]:
    """All of them, now."""
    yield from _tallied()
    yield from _runs()
    yield from _leases()
    moves = movement()
    yield READY_AGE.value(moves.oldest_ready or 0.0)
    yield LAST_CLAIM.value(moves.last_claim)
    yield DAMAGED.values(((done,), number) for done, number in run("runs", "metrics_damages", {}))
    ((age,),) = run("runs", "metrics_counted", {}) or [(None,)]
    yield COUNTED.value(age)


def _tallied() -> Iterable[Metric]:
    families = [family for family in FAMILIES if family.kind != "gauge" and family is not DAMAGED]
    found = tallies.labelled(family.name for family in families)
    for family in families:
        rows = found[family.name]
        if family.kind == "counter":
            # A counter that nothing has raised yet is 0, so that a first event is seen as a rise.
            yield family.values(rows.items() if rows or family.labels else [((), 0.0)])
            continue
        counts: dict[tuple[str, ...], dict[int, float]] = {}
        for labels, value in rows.items():
            counts.setdefault(labels[:-1], {})[int(labels[-1])] = value
        yield family.histogram(counts or ({} if family.labels else {(): {}}))


def _runs() -> Iterable[Metric]:
    rows = run("runs", "metrics_runs", {})
    yield RUNS.values(((status.lower(),), number) for status, number, _ in rows)
    yield RUN_AGE.values(
        ((status.lower(), quantile), age)
        for status, _, ages in rows
        for quantile, age in zip(_QUANTILES[1:], ages or (), strict=False)
    )


def _leases() -> Iterable[Metric]:
    ((held, left, most, shared),) = run("runs", "metrics_leases", {})
    yield LEASES.value(held)
    yield LEFT.values(
        ((quantile,), seconds) for quantile, seconds in zip(_QUANTILES, left or (), strict=False)
    )
    yield EXECUTORS.value(most)
    yield SHARED.value(shared)
    measured: dict[str, dict[int, int]] = {}
    for what, bucket, count in run("runs", "metrics_measures", {}):
        measured.setdefault(what, {})[bucket] = int(count)
    remaining = measured.get("left", {})
    yield LEFT_RENEWED.values(
        ((quantile,), growing.quantile(remaining, max(float(quantile), 1e-9)))
        for quantile in _QUANTILES
        if remaining
    )
    failed = sum(measured.get("failed", {}).values())
    went = sum(measured.get("renewal", {}).values())
    yield RENEWALS.values([(("ok",), went), (("failed",), failed)])
    yield RENEWAL_FAILURES.value(failed / (went + failed) if went + failed else None)
