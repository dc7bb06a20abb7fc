"""Tables of the workshop: fields, named constraints, state arrows; no verbs."""

from runs.models.artifact import Artifact
from runs.models.checkpoint import Checkpoint, Signal
from runs.models.correction import FindingCorrection
from runs.models.damage import Damage
from runs.models.event import Event
from runs.models.lease_measure import LeaseMeasure
from runs.models.quarantined import Quarantined
from runs.models.run import Run
from runs.models.step import Step, StepDependency
from runs.models.tally import LostLease, Tally, TallyMark
from runs.models.terms import TenantTerms

__all__ = [
    "Artifact",
    "Checkpoint",
    "Damage",
    "Event",
    "FindingCorrection",
    "LeaseMeasure",
    "LostLease",
    "Quarantined",
    "Run",
    "Signal",
    "Step",
    "StepDependency",
    "Tally",
    "TallyMark",
    "TenantTerms",
]
