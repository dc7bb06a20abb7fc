"""Guards of fair share (L18, B34) and of retention (B47)."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_FAIR = "tests/runs/engine/test_fairness.py"
_KEPT = "tests/runs/engine/test_growth_retention.py"

GROWTH = (
    Mutant(
        number="B34",
        guard="a quota is counted from the leases in the rows",
        file="runs/sql/claim_steps.sql",
        old="terms.quota - active.leases AS quota_left",
        new="terms.quota AS quota_left",
        tests=(f"{_FAIR}::test_b34_a_quota_is_of_leases_that_stand_in_rows",),
    ),
    Mutant(
        number="B34",
        guard="claims near a quota go one after the other",
        file="runs/sql/lock_quotas.sql",
        old="SELECT pg_advisory_xact_lock(5, hashtext(t.id::text))",
        new="SELECT t.id",
        tests=(f"{_FAIR}::test_b34_two_nodes_together_stay_within_the_quota",),
    ),
    Mutant(
        number="B34",
        guard="places are shared out by weight (L18)",
        file="runs/sql/claim_steps.sql",
        old="* f.weight / sum(f.weight) OVER part - f.leases AS lacks",
        new="/ count(*) OVER part - f.leases AS lacks",
        tests=(f"{_FAIR}::test_weights_divide_the_places",),
    ),
    Mutant(
        number="B34",
        guard="recent failures cost a part of the share (L18)",
        file="runs/sql/claim_steps.sql",
        old="t.weight / (1 + %(factor)s * t.debt * power(",
        new="t.weight / (1 + 0 * %(factor)s * t.debt * power(",
        tests=(f"{_FAIR}::test_failures_cost_a_part_of_the_share_and_are_forgotten",),
    ),
    Mutant(
        number="B34",
        guard="a full pool lets go of a place (L18)",
        file="runs/engine/fairness.py",
        old="        if free == 1 and PACE.gives_up(pool):\n            return False\n",
        new="",
        tests=(f"{_FAIR}::test_a_run_goes_on_at_once_only_where_it_keeps_nobody_out",),
    ),
    Mutant(
        number="B34",
        guard="one tenant's dead leases do not stand before another's (L18)",
        file="runs/sql/expired_steps.sql",
        old="    LIMIT (SELECT ceil(%(limit)s::float8 / count(*))::int FROM tenant)) s",
        new="    LIMIT %(limit)s) s",
        tests=(f"{_FAIR}::test_one_tenants_dead_leases_do_not_stand_before_anothers",),
    ),
    Mutant(
        number="B47",
        guard="the payloads of the history go with the rest",
        file="runs/engine/retention.py",
        old='        taken["events"] = timeline.erase(run_id)\n',
        new='        taken["events"] = 0\n',
        tests=(f"{_KEPT}::test_payloads_go_and_proofs_stay",),
    ),
    Mutant(
        number="B47",
        guard="whoever comes second passes on",
        file="runs/engine/retention.py",
        old="rows.filter(pk=run_id, finished_at__isnull=False, erased_at__isnull=True)",
        new="rows.filter(pk=run_id, finished_at__isnull=False)",
        tests=(f"{_KEPT}::test_b47_two_at_once_erase_each_run_once",),
    ),
    Mutant(
        number="B47",
        guard="what comes late leaves no payload at a tombstone",
        file="runs/sql/quarantine.sql",
        old="CASE WHEN r.erased_at IS NULL THEN q.output END",
        new="q.output",
        tests=(f"{_KEPT}::test_b47_a_late_result_finds_a_tombstone",),
    ),
    Mutant(
        number="B47",
        guard="a file stays while a row names its content",
        file="runs/engine/retention.py",
        old="        if not Artifact.everywhere.filter(sha256=sha256, removed_at__isnull=True).exists():\n",
        new="        if True:\n",
        tests=(f"{_KEPT}::test_files_go_when_no_row_names_them",),
    ),
    Mutant(
        number="B47",
        guard="a digest stands in the chain for the payload",
        file="runs/timeline.py",
        old="    digest = bytes(event.erased) if event.erased is not None else payload_digest(event.payload)\n",
        new="    digest = payload_digest(event.payload)\n",
        tests=(f"{_KEPT}::test_payloads_go_and_proofs_stay",),
    ),
)
