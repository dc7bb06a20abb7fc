"""An outcome that the database refuses again and again is recorded in a lesser form: a value that cannot be stored must
never turn an effect that happened into a retry, nor hold its step for ever."""

import dataclasses

from runs.engine.types import Outcome

CODE = "cannot_be_stored"


def lesser(outcome: Outcome, degree: int) -> Outcome:
    """Degree 1: without its plan, 2: without its values as well, 3: a failure, or, for an effect that was sent, unknown."""
    if degree <= 1:
        return dataclasses.replace(outcome, plan=None)
    text = "What it answered could not be stored."
    if degree == 2:
        output = {"left_out": True} if outcome.ending == "succeeded" else None
        return dataclasses.replace(
            outcome, plan=None, output=output, artifacts=[], reference="", error_text=text
        )
    sent = outcome.dispatch_id is not None
    return Outcome(
        outcome.claimed,
        "unknown" if sent else "failed",
        error_code=CODE,
        error_text=text,
        dispatch_id=outcome.dispatch_id,
    )
