"""The gate's word about one effect of a run, as everything stands now. Joins a transaction that holds the run."""

from runs.engine.workspace import Locked
from tools.gate import Verdict
from tools.models import Contract, Intent
from tools.selectors import verdict


def judge(run: Locked, intent: Intent, contract: Contract) -> Verdict:
    """Switches, rules and totals of now; the effect itself is not counted twice."""
    return verdict(
        tenant_id=run.tenant_id,
        contract=contract,
        arguments=intent.arguments,
        run_id=run.id,
        key=intent.key,
    )
