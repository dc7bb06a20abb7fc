"""The names of the states, grouped. Standard library only: children and SQL builders import it."""

RUN_LIVE = (
    "PENDING",
    "RUNNING",
    "WAITING_APPROVAL",
    "WAITING_EXTERNAL",
    "PAUSED",
    "CANCEL_REQUESTED",
    "COMPENSATING",
)
RUN_TERMINAL = ("SUCCEEDED", "FAILED", "CANCELLED")
#: Runs whose steps may be claimed (undo steps: COMPENSATING).
RUN_CLAIMABLE = ("PENDING", "RUNNING", "WAITING_APPROVAL", "WAITING_EXTERNAL", "COMPENSATING")
#: Runs in which new work may be planned.
RUN_PLANNABLE = ("PENDING", "RUNNING", "WAITING_APPROVAL", "WAITING_EXTERNAL")

STEP_LIVE = ("PENDING", "RUNNING", "WAITING_APPROVAL", "WAITING_EXTERNAL", "UNKNOWN")
STEP_TERMINAL = ("SUCCEEDED", "FAILED", "SKIPPED", "CANCELLED")

#: Keys of steps that make a damaged artifact again begin so (S15).
REMAKE = "remake/"
#: Keys of steps that ask the far side whether an effect happened begin so (S8).
QUERY = "query/"
#: Keys of steps that undo an effect begin so.
UNDO = "undo/"
#: What the engine itself inserts; the agent does not plan it and is not told of it. An agent that gives such a key is
#: refused (L21).
INSERTED = (REMAKE, QUERY, UNDO)
#: A summary and a checkpoint are written after this many finished steps (S6).
CHECKPOINT_EVERY = 4
