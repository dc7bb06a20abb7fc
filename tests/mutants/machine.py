"""Guards that random stories notice: nobody said in a test of its own what would go wrong."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_NO = "    if facts.said == Said.NO and facts.blocked == Blocked.NO and not facts.too_early:\n"
STORIES = ("tests/machine/test_machine.py::test_no_story_breaks_a_promise",)

MACHINE = (
    Mutant(
        number="B13",
        guard="an outcome is taken under the newest fence alone",
        file="runs/sql/finish_steps.sql",
        old=" AND s.fence = f.fence AND s.epoch = f.epoch AND s.owner_id = %(worker)s",
        new=" AND (s.owner_id = %(worker)s OR true)",
        tests=STORIES,
    ),
    Mutant(
        number="B13",
        guard="what an old execution says of an effect is not taken",
        file="runs/engine/record.py",
        old="        if ours:\n",
        new="        if ours or step.status == Step.Status.RUNNING:\n",
        tests=STORIES,
    ),
    Mutant(
        number="B14",
        guard="leases that ran out are found",
        file="runs/sql/expired_steps.sql",
        old="s.tenant_id = t.id AND s.lease_until < now()",
        new="s.tenant_id = t.id AND s.lease_until < now() - interval '1 hour'",
        tests=STORIES,
    ),
    Mutant(
        number="B15",
        guard="a run that is being cancelled takes no plan",
        file="runs/engine/commit.py",
        old="    elif run.takes_work and fits",
        new="    elif fits",
        tests=STORIES,
    ),
    Mutant(
        number="B16",
        guard="a takeover does not send again",
        file="runs/engine/record.py",
        old="        case _ if dispatched:\n            lose(run, step, intent, why=outcome.ending, text=outcome.error_text)\n",
        new="        case _ if dispatched:\n"
        '            Intent.everywhere.filter(pk=intent.pk).update(status="AUTHORISED")\n'
        "            _give_back(run, step, intent, outcome)\n",
        tests=STORIES,
    ),
    Mutant(
        number="B22",
        guard="nothing is sent again while the old sender may live",
        file="tools/reconcile.py",
        old=_NO,
        new="    if facts.said == Said.NO and (facts.blocked != Blocked.NO or not facts.too_early):\n",
        tests=STORIES,
    ),
    Mutant(
        number="B22",
        guard="who looked before the old sender was gone is asked once more",
        file="tools/reconcile.py",
        old=_NO,
        new="    if facts.said == Said.NO and facts.blocked == Blocked.NO:\n",
        tests=STORIES,
    ),
    Mutant(
        number="B26",
        guard="decided actions are found without a bell",
        file="runs/engine/resume.py",
        old="waiting = PendingAction.everywhere.filter(~Q(status=Status.OPEN), applied_at__isnull=True)",
        new="waiting = PendingAction.everywhere.none()",
        tests=STORIES,
    ),
    Mutant(
        number="B33",
        guard="begin looks at the run",
        file="runs/engine/begin.py",
        old="        if not run.lives_for(step.kind):\n            return LOST\n",
        new="",
        tests=STORIES,
    ),
    Mutant(
        number="B57",
        guard="a cancelled run takes back unused grants",
        file="runs/engine/cancel.py",
        old="    grants.void_unused(run_id=run.id, reason=sentences.CANCELLED())\n",
        new="",
        tests=STORIES,
    ),
    Mutant(
        number="B46",
        guard="a run is cancelled when nothing of it lives",
        file="runs/engine/status.py",
        old="        if not live:\n",
        new='        if not any(row[4] == "RUNNING" for row in live):\n',
        tests=STORIES,
    ),
)
