"""Check again: a person wants the far side to be asked now what became of an effect."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.access import MemberRequest, member
from accounts.ids import BadId, parse
from accounts.models import Role
from approvals.models import PendingAction
from runs.engine.heard import check_again


@require_POST
@member()
def ask(request: MemberRequest, action_id: str) -> HttpResponse:
    """Puts the question; its answer appears on the page by itself."""
    try:
        pk = parse("pendingaction", action_id)
    except BadId:
        raise Http404 from None
    if not PendingAction.objects.filter(pk=pk, kind=PendingAction.Kind.SETTLE).exists():
        raise Http404
    if not {Role.APPROVER, Role.ADMINISTRATOR} & set(request.membership.roles):
        raise PermissionDenied
    if check_again(action_id=pk, user_id=request.user.pk):
        messages.success(request, _("The other side is asked now. What it says appears below."))
    else:
        messages.warning(request, _("Nothing can be asked now, or it is known already. Nothing has changed."))
    return HttpResponseRedirect(reverse("approvals:action", args=[action_id]))
