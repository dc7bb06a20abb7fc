"""Several questions at once: the page, the one POST that answers them, and what became of each."""

import uuid
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST, require_safe

from accounts import drafts, ids, proof
from accounts.access import member
from accounts.addresses import client_address
from approvals import alike, errors, present
from approvals.answers import LONGEST_COMMENT
from approvals.decide_many import Row, decide_many
from approvals.models import PendingAction, Verdict
from approvals.present.batch import batch as view_of
from approvals.present.batch import done as what_became
from approvals.present.parts import Notice
from approvals.views.shared import asked_of, plain


class BatchForm(forms.Form):
    """The same answer to all rows."""

    verdict = forms.CharField(max_length=20)
    comment = forms.CharField(label=gettext_lazy("Reason"), required=False, max_length=LONGEST_COMMENT)
    gesture = forms.CharField(required=False, max_length=500)

    def clean(self) -> dict[str, str]:
        """An answer that is given twice is none."""
        several = getattr(self.data, "getlist", lambda _name: ())
        if len(several("verdict")) > 1:
            raise ValidationError(_("The answer was given more than once. Nothing was decided."))
        return self.cleaned_data


@require_safe
@member()
def batch_page(request: HttpRequest) -> HttpResponse:
    """The questions named by ``row``, to be decided together."""
    actions = _named(request.GET.getlist("row"))
    kept = drafts.find(request, of=_address(actions))
    if kept is None or not proof.fresh(request):
        return _page(request, actions)
    words = _("Nothing was decided yet. What you had typed is here: look once more, then answer.")
    return _page(
        request, actions, form=BatchForm(kept), notice=Notice("running", "info", _("It is you."), words)
    )


@require_POST
@member()
def decide(request: HttpRequest) -> HttpResponse:
    """Post one answer to all rows. 303 to what became of each, or the page again with the row that stops them."""
    asked = asked_of(request)
    rows = [_as_seen(text) for text in request.POST.getlist("row")[: alike.MOST + 1]]
    actions = _find([row.action_id for row in rows])
    form = BatchForm(request.POST)
    if not form.is_valid():
        return _page(request, actions, form=form, status=422)
    given = form.cleaned_data
    try:
        decisions = decide_many(
            rows=rows,
            user_id=asked.user.pk,
            verdict=given["verdict"],
            channel="web",
            authenticated=proof.how(request),
            fresh=proof.fresh(request),
            comment=given["comment"] if given["verdict"] != Verdict.APPROVE else "",
            gesture=given["gesture"],
            address=client_address(request.META),
        )
    except errors.NeedsProof:
        back = _address(actions)
        drafts.keep(request, of=back)
        return proof.ask(request, back=back)
    except errors.BadAnswer as error:
        form.add_error(error.field if error.field in form.fields else None, error.text)
        return _page(request, actions, form=form, status=422)
    except errors.RowRefused as error:
        status = 403 if isinstance(error.cause, errors.NotAllowed) else 409
        notice = Notice("failed", "failed", _("Nothing was decided."), str(error))
        return _page(request, _find([row.action_id for row in rows]), notice=notice, status=status)
    drafts.drop(request, of=_address(actions))
    count = len(decisions)
    approved = given["verdict"] == Verdict.APPROVE
    words = (
        ngettext("Approved: %s thing.", "Approved: %s things at once.", count)
        if approved
        else ngettext("Rejected: %s thing.", "Rejected: %s things at once.", count)
    )
    messages.success(request, words % count)
    return redirect("approvals:batch_done", batch=decisions[0].batch)


@require_safe
@member()
def batch_done(request: HttpRequest, batch: uuid.UUID) -> HttpResponse:
    """What became of each row that this person decided together."""
    asked = asked_of(request)
    rows = what_became(batch, asked.user.pk, asked.tenant.pk)
    if not rows:
        raise Http404
    found = present.listing(user_id=asked.user.pk, tenant_id=asked.tenant.pk)
    return render(request, "approvals/batch_done.html", {**plain(found), "rows": rows})


def _page(
    request: HttpRequest,
    actions: list[PendingAction],
    *,
    form: BatchForm | None = None,
    notice: Notice | None = None,
    status: int = 200,
) -> HttpResponse:
    asked = asked_of(request)
    found = present.listing(user_id=asked.user.pk, tenant_id=asked.tenant.pk)
    context = {**plain(found), "batch": view_of(actions, asked.user.pk), "form": form, "notice": notice}
    return render(request, "approvals/batch.html", context, status=status)


def _address(actions: list[PendingAction]) -> str:
    """The page of these, by which it is opened."""
    rows = urlencode([("row", ids.public("pendingaction", action.pk)) for action in actions])
    return f"{reverse('approvals:batch')}?{rows}"


def _named(public_ids: list[str]) -> list[PendingAction]:
    try:
        return _find([ids.parse("pendingaction", one) for one in public_ids[: alike.MOST + 1]])
    except ids.BadId:
        raise Http404 from None


def _find(keys: list[uuid.UUID]) -> list[PendingAction]:
    """These actions of this tenant, in this order, each once; 404 when one is none of them."""
    keys = list(dict.fromkeys(keys))
    rows = PendingAction.objects.select_related("intent__contract", "submitter")
    by_id = rows.prefetch_related("decisions__user").filter(kind=PendingAction.Kind.APPROVE).in_bulk(keys)
    if not keys or len(keys) > alike.MOST or len(by_id) < len(keys):
        raise Http404
    return [by_id[key] for key in keys]


def _as_seen(text: str) -> Row:
    """``act_….digest.generation``, as the page had them."""
    public, _dot, seen = text.partition(".")
    digest, _dot, generation = seen.partition(".")
    try:
        number = int(generation) if generation.isascii() and generation.isdigit() else 0
        return Row(ids.parse("pendingaction", public), digest[:64], min(number, 2**31 - 1))
    except ids.BadId:
        raise Http404 from None
