"""Tables of the desk: fields, constraints, state arrows; no verbs."""

from approvals.models.action import PendingAction
from approvals.models.decision import Decision, Verdict
from approvals.models.desk import FollowUp, Viewing
from approvals.models.sample import Sample

__all__ = ["Decision", "FollowUp", "PendingAction", "Sample", "Verdict", "Viewing"]
