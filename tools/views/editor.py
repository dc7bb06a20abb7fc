"""The contract of one tool: the draft with what it would mean, the difference that is published, and the versions before."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import MemberRequest, member
from accounts.arrows import RefusedTransition
from accounts.models import Role
from accounts.views.answer import attempt
from tools import drafts, forms, publish
from tools.errors import ContractRefused
from tools.models import Contract, EffectClass, Tool
from tools.present import changes as differences
from tools.present.consequences import consequences as judge
from tools.present.consequences import last_example
from tools.present.path import general
from tools.views.register import one

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


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def tool(request: MemberRequest, name: str) -> HttpResponse:
    """The draft, or what the next one would begin with. POST saves it; nothing comes into force here."""
    found = one(name)
    sheet = _sheet(found, request.POST or None)
    if request.method == "POST":
        if sheet.valid():
            saved = attempt(
                request,
                lambda: drafts.save(
                    tool_id=found.pk,
                    by=request.user.pk,
                    declared=sheet.declared(),
                    seen_before=request.POST.get("seen", ""),
                ),
                sheet.contract,
            )
            if saved:
                if "review" in request.POST:
                    return redirect("tools:changes", name)
                messages.success(request, _("Draft %s is saved. It is not in force.") % saved.version)
                return redirect("tools:tool", name)
        else:
            messages.error(request, _("The draft was not saved: some entries cannot be used, see below."))
    typed = request.POST.get("example")
    example = last_example(sheet.base) if typed is None else typed
    context = {**_frame(sheet, "draft"), "example": example, **_judged(sheet, example, typed is not None)}
    return render(request, "tools/tool.html", context)


@require_POST
@member(Role.ADMINISTRATOR)
def consequences(request: MemberRequest, name: str) -> HttpResponse:
    """What the form as it is typed would mean; stores nothing."""
    sheet = _sheet(one(name), request.POST)
    return render(
        request, "tools/partials/consequences.html", _judged(sheet, request.POST.get("example", ""), True)
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def changes(request: MemberRequest, name: str) -> HttpResponse:
    """The difference between the draft and what is in force; POST publishes exactly what was shown."""
    sheet = _sheet(one(name), None)
    if sheet.draft is None:
        return redirect("tools:tool", name)
    draft = sheet.draft
    if request.method == "POST":
        if request.POST.get("seen") != drafts.seen(draft):
            messages.error(
                request, _("The draft was changed meanwhile. Nothing was published; look at it again.")
            )
            return redirect("tools:changes", name)
        try:
            publish.publish(contract_id=draft.pk, by=request.user.pk)
        except ContractRefused as refused:
            for problem in refused.problems:
                messages.error(request, _("Not published: %s") % problem)
        except RefusedTransition:
            messages.error(request, _("Somebody else published or discarded it meanwhile."))
        else:
            messages.success(
                request, _("Version %s is in force. Tasks under way keep the one they have.") % draft.version
            )
            return redirect("tools:history", name)
    judged = judge(draft=draft, live=sheet.live, example=last_example(draft))
    rows = differences.changes(sheet.live, draft)
    return render(request, "tools/changes.html", {**_frame(sheet, "changes"), "rows": rows, "judged": judged})


@never_cache
@require_safe
@member(Role.ADMINISTRATOR)
def history(request: MemberRequest, name: str) -> HttpResponse:
    """All versions, newest first, each with what it changed."""
    sheet = _sheet(one(name), None)
    rows = list(
        Contract.objects.select_related("tool", "published_by", "created_by")
        .filter(tool=sheet.tool)
        .order_by("-version")[:50]
    )
    earlier = [*rows[1:], None]
    versions = [
        {"contract": row, "changes": differences.changes(before, row)}
        for row, before in zip(rows, earlier, strict=True)
    ]
    return render(request, "tools/history.html", {**_frame(sheet, "history"), "versions": versions})


@require_POST
@member(Role.ADMINISTRATOR)
def discard(request: MemberRequest, name: str) -> HttpResponse:
    """Throw the draft away."""
    if drafts.discard(tool_id=one(name).pk, by=request.user.pk):
        messages.success(request, _("The draft is discarded. What is in force stays as it is."))
    return redirect("tools:tool", name)


def _sheet(found: Tool, data: Any) -> Sheet:
    live, draft = drafts.current(tool=found)
    base = draft or (
        drafts.copied(live) if live else Contract(tenant_id=found.tenant_id, tool=found, version=1, **BLANK)
    )
    policy = base.policy if isinstance(base.policy, dict) else {}
    began = {"always": policy.get("path") == "approval", "role": policy.get("role", Role.APPROVER.value)}
    return Sheet(
        tool=found,
        live=live,
        draft=draft,
        base=base,
        contract=forms.ContractForm(data, instance=drafts.copied(base), tools=forms.other_tools(found)),
        policy=forms.PolicyForm(data, initial={**began, "quorum": policy.get("quorum", 1)}),
        rules=forms.RuleFormSet(data, initial=forms.rule_lines(policy), prefix="rule"),
    )


def _judged(sheet: Sheet, example: str, typed: bool) -> dict[str, Any]:
    """The consequences of what is typed, or of what is stored. Entries that cannot be used have none."""
    draft = sheet.base
    if typed:
        if not sheet.valid():
            return {"judged": None}
        draft = drafts.copied(sheet.base)
        for field, value in sheet.declared().items():
            setattr(draft, field, value)
    return {"judged": judge(draft=draft, live=sheet.live, example=example), "live": sheet.live}


def _frame(sheet: Sheet, tab: str) -> dict[str, Any]:
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
    }
