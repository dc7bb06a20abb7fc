"""Tables of the desk: fields, constraints, state arrows; no verbs."""

from approvals.models.action import PendingAction
from approvals.models.decision import Decision, Verdict

__all__ = ["Decision", "PendingAction", "Verdict"]
