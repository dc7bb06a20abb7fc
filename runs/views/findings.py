"""Say that a finding is wrong, and take it back."""

import uuid

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from accounts.access import MemberRequest, member
from runs.verbs.correct_finding import NoSuchFinding, correct_finding
from runs.views.lookup import run_or_404


@member()
@require_POST
def mark_wrong(request: MemberRequest, run_id: uuid.UUID, document: str, finding: str) -> HttpResponse:
    """This is wrong."""
    return _say(request, run_id, document, finding, wrong=True)


@member()
@require_POST
def take_back(request: MemberRequest, run_id: uuid.UUID, document: str, finding: str) -> HttpResponse:
    """It was right after all."""
    return _say(request, run_id, document, finding, wrong=False)


def _say(
    request: MemberRequest, run_id: uuid.UUID, document: str, finding: str, *, wrong: bool
) -> HttpResponse:
    run = run_or_404(run_id)
    try:
        correct_finding(
            run=run,
            user_id=request.user.pk,
            document=document,
            finding=finding,
            wrong=wrong,
            note=request.POST.get("note", ""),
        )
    except NoSuchFinding:
        raise Http404 from None
    place = f"#finding-{document[:16]}-{finding}"
    return HttpResponseRedirect(reverse("runs:task_detail", args=[run.pk]) + place)
