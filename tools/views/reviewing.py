"""What a draft would change, and the ways out of it: publish, ask another administrator, send back."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import MemberRequest, member
from accounts.arrows import RefusedTransition
from accounts.errors import Refused
from accounts.models import Role
from accounts.views.answer import attempt
from tools import drafts, forms, publish, publish_rule, reviews
from tools.errors import ContractRefused
from tools.models import Contract
from tools.present import changes as differences
from tools.present.consequences import consequences as judge
from tools.present.consequences import last_example
from tools.views.register import one
from tools.views.sheet import frame, sheet_of


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def changes(request: MemberRequest, name: str) -> HttpResponse:
    """The difference between the draft and what is in force; POST publishes exactly what was shown."""
    sheet = sheet_of(one(name), None)
    if sheet.draft is None:
        return redirect("tools:tool", name)
    draft = sheet.draft
    if request.method == "POST":
        if request.POST.get("seen") != drafts.seen(draft):
            messages.error(
                request, _("The draft was changed meanwhile. Nothing was published; look at it again.")
            )
            return redirect("tools:changes", name)
        if _published(request, draft):
            return redirect("tools:history", name)
    context = frame(sheet, "changes")
    example = request.GET.get("example") or last_example(draft)
    review = context["review"]
    mine = {draft.created_by_id, review.asked_by_id if review else None}
    context |= {
        "rows": differences.changes(sheet.live, draft),
        "judged": judge(draft=draft, live=sheet.live, example=example),
        "show_example": True,
        "may_answer": review is not None and request.user.pk not in mine,
        "note_form": forms.NoteForm(request.POST or None),
        "back_form": forms.SendBackForm(),
    }
    return render(request, "tools/changes.html", context)


@require_POST
@member(Role.ADMINISTRATOR)
def ask(request: MemberRequest, name: str) -> HttpResponse:
    """Ask another administrator to look at exactly this draft."""
    note, seen = request.POST.get("note", ""), request.POST.get("seen", "")
    tool_id = one(name).pk
    if attempt(request, lambda: reviews.ask(tool_id=tool_id, by=request.user.pk, seen=seen, note=note)):
        messages.success(
            request, _("The other administrators are told. Until one of them answers, nothing changes.")
        )
    return redirect("tools:changes", name)


@require_POST
@member(Role.ADMINISTRATOR)
def send_back(request: MemberRequest, name: str) -> HttpResponse:
    """Another administrator says what is to be mended."""
    reason, seen = request.POST.get("reason", ""), request.POST.get("seen", "")
    tool_id = one(name).pk
    if attempt(
        request, lambda: reviews.send_back(tool_id=tool_id, by=request.user.pk, seen=seen, reason=reason)
    ):
        messages.success(request, _("It is sent back, with your words. The draft stays."))
    return redirect("tools:changes", name)


@require_POST
@member(Role.ADMINISTRATOR)
def take_back(request: MemberRequest, name: str) -> HttpResponse:
    """Nobody has to look at it any more."""
    tool_id = one(name).pk
    if attempt(request, lambda: reviews.take_back(tool_id=tool_id, by=request.user.pk)):
        messages.success(request, _("The review is taken back. The draft stays."))
    return redirect("tools:changes", name)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def two_people(request: MemberRequest) -> HttpResponse:
    """Whether publishing takes two administrators."""
    verbs: dict[str, Callable[..., None]] = {
        "on": publish_rule.switch_on,
        "ask_off": publish_rule.ask_off,
        "keep": publish_rule.keep_on,
        "off": publish_rule.switch_off,
    }
    verb = verbs.get(request.POST.get("act", ""))
    if request.method == "POST" and verb is not None:
        attempt(request, lambda: verb(tenant_id=request.tenant.pk, by=request.user.pk))
        return redirect("tools:two_people")
    return render(
        request, "tools/two_people.html", {"rule": publish_rule.current(tenant_id=request.tenant.pk)}
    )


def _published(request: MemberRequest, draft: Contract) -> bool:
    try:
        publish.publish(contract_id=draft.pk, by=request.user.pk, note=request.POST.get("note", ""))
    except ContractRefused as refused:
        for problem in refused.problems:
            messages.error(request, _("Not published: %s") % problem)
    except Refused as refused:
        messages.error(request, str(refused.text))
    except RefusedTransition:
        messages.error(request, _("Somebody else published or discarded it meanwhile."))
    else:
        messages.success(
            request, _("Version %s is in force. Tasks under way keep the one they have.") % draft.version
        )
        return True
    return False
