"""Guards of files, of the broker's place, and of what the numbers say."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

STORAGE: tuple[Mutant, ...] = (
    Mutant(
        number="B01",
        guard="a lease is prolonged while its step runs, however often the nodes are rung",
        file="runs/node/keeper.py",
        old="        kept = renew(db, worker_id=self.board.worker_id, leases=leases, seconds=self.terms.lease)\n",
        new="        kept = renew(db, worker_id=self.board.worker_id, leases=[], seconds=self.terms.lease)\n",
        tests=(
            "tests/runs/node/test_broker.py::test_b01_messages_that_come_again_and_again_find_the_lease_held",
        ),
    ),
    Mutant(
        number="B04",
        guard="health says when no node hears the broker",
        file="runs/selectors/health.py",
        old='        return "silent" if since > SILENT_AFTER else "heard"\n',
        new='        return "heard"\n',
        tests=("tests/runs/selectors/test_health.py",),
    ),
    Mutant(
        number="B04",
        guard="the keeper writes down that its node was rung",
        file="runs/node/keeper.py",
        old="    last_bell_at = CASE WHEN %(rung)s THEN",
        new="    last_bell_at = CASE WHEN false AND %(rung)s THEN",
        tests=(
            "tests/runs/node/test_broker.py::test_b04_work_goes_on_while_the_way_through_the_broker_is_dead",
        ),
    ),
)
