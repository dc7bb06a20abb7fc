"""The forms of the workbench. The editor's fields stand one section a module in ``sections``."""

from tools.forms.contract import ContractForm, other_tools
from tools.forms.importing import ImportForm
from tools.forms.policy import (
    PolicyForm,
    RuleForm,
    RuleFormSet,
    policy_began,
    policy_of,
    rule_lines,
    rules_of,
)
from tools.forms.tool import NoteForm, ReasonForm, SendBackForm, ToolForm

__all__ = [
    "ContractForm",
    "ImportForm",
    "NoteForm",
    "PolicyForm",
    "ReasonForm",
    "RuleForm",
    "RuleFormSet",
    "SendBackForm",
    "ToolForm",
    "other_tools",
    "policy_began",
    "policy_of",
    "rule_lines",
    "rules_of",
]
