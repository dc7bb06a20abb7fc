"""Tables of the workbench: fields, constraints, state arrows; no verbs."""

from tools.models.contract import Contract, EffectClass, Risk, Tool
from tools.models.duplicate import DuplicateReport
from tools.models.intent import Intent
from tools.models.limits import QuotaWindow, ResourceFence, Secret, StopSwitch
from tools.models.review import PublishRule, Review
from tools.models.worker import WorkerProcess

__all__ = [
    "Contract",
    "DuplicateReport",
    "EffectClass",
    "Intent",
    "PublishRule",
    "QuotaWindow",
    "ResourceFence",
    "Review",
    "Risk",
    "Secret",
    "StopSwitch",
    "Tool",
    "WorkerProcess",
]
