"""The end of a run that failed. Joins a transaction that holds the run."""

from runs.engine.workspace import Locked


def end_as_failed(run: Locked, code: str, text: str) -> None:
    """The run has failed; nothing of it is live."""
    run.failure = {"code": code, "text": text[:1000]}
    run.takeover = None
    leave_waiting(run)
    run.move("fail")
    run.event("run.failed", payload={"code": code, "text": text[:1000]})


def leave_waiting(run: Locked) -> None:
    """A run ends from RUNNING alone."""
    run.waiting_on = ""
    if run.status != "RUNNING":
        run.move("go_on")
