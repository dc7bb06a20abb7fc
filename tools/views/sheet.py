"""What the pages of one contract share: its forms, what they would mean, and the frame around them."""

from dataclasses import dataclass
from typing import Any

from tools import drafts, forms, publish_rule, reviews, staffing, standing
from tools.models import Contract, EffectClass, Tool
from tools.present.consequences import consequences as judge
from tools.present.path import general

#: What a new tool starts with: the strictest class.
BLANK = {"adapter": "http", "effect_class": EffectClass.IRREVERSIBLE, "isolation": Contract.Isolation.THREAD}


@dataclass(slots=True)
class Sheet:
    """The forms of one contract. ``live`` in force, ``base`` what the forms began with."""

    tool: Tool
    live: Contract | None
    draft: Contract | None
    base: Contract
    contract: forms.ContractForm
    policy: forms.PolicyForm
    rules: Any

    def valid(self) -> bool:
        # All three are asked, so that every fault is shown at once.
        return all([self.contract.is_valid(), self.policy.is_valid(), self.rules.is_valid()])

    def declared(self) -> dict[str, Any]:
        return {**self.contract.declared(), "policy": forms.policy_of(self.policy, self.rules)}


def sheet_of(found: Tool, data: Any) -> Sheet:
    """The forms over the draft, or over what the next one would begin with."""
    live, draft = drafts.current(tool=found)
    base = draft or (
        drafts.copied(live) if live else Contract(tenant_id=found.tenant_id, tool=found, version=1, **BLANK)
    )
    policy = base.policy if isinstance(base.policy, dict) else {}
    return Sheet(
        tool=found,
        live=live,
        draft=draft,
        base=base,
        contract=forms.ContractForm(data, instance=drafts.copied(base), tools=forms.other_tools(found)),
        policy=forms.PolicyForm(
            data, initial=forms.policy_began(policy), groups=staffing.groups(tenant_id=found.tenant_id)
        ),
        rules=forms.RuleFormSet(data, initial=forms.rule_lines(policy), prefix="rule"),
    )


def judged(sheet: Sheet, example: str, typed: bool) -> dict[str, Any]:
    """The consequences of what is typed, or of what is stored. Entries that cannot be used have none."""
    draft = sheet.base
    if typed:
        if not sheet.valid():
            return {"judged": None}
        draft = drafts.copied(sheet.base)
        for field, value in sheet.declared().items():
            setattr(draft, field, value)
    return {"judged": judge(draft=draft, live=sheet.live, example=example), "live": sheet.live}


def frame(sheet: Sheet, tab: str) -> dict[str, Any]:
    """What head, tabs and editor need."""
    newest = sheet.draft or sheet.live
    return {
        "tool": sheet.tool,
        "tab": tab,
        "live": sheet.live,
        "draft": sheet.draft,
        "next_version": sheet.draft.version if sheet.draft else (sheet.live.version + 1 if sheet.live else 1),
        "seen": drafts.seen(newest),
        "path": general(sheet.live),
        "form": sheet.contract,
        "policy": sheet.policy,
        "rules": sheet.rules,
        "two_people": publish_rule.needed(tenant_id=sheet.tool.tenant_id),
        "review": standing.open_for(tool=sheet.tool),
        "sent_back": reviews.returned_last(tool=sheet.tool, draft=sheet.draft),
    }
