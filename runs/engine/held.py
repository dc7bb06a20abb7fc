"""A running step as the tables have it: enough of it to give it back, whoever claimed it."""

from typing import Any

from runs.engine.types import Claimed


def held(row: tuple[Any, ...]) -> Claimed:
    """From the columns of ``steps_of_owner`` and ``expired_steps``. It carries no input, context or contract: nothing can
    be executed with it."""
    return Claimed(
        step_id=row[0],
        run_id=row[1],
        tenant_id=row[2],
        key=row[3],
        kind=row[4],
        tool=row[5],
        pool=row[6],
        attempt=row[7],
        failures=row[8],
        losses=row[9],
        epoch=row[10],
        fence=row[11],
        timeout_seconds=row[12],
        arguments="{}",
        context='{"live": []}',
        version=row[16],
        run_epoch=row[17],
        agent="",
        agent_version="",
        spec={},
        intent_id=row[13],
        contract_id=row[14],
    )
