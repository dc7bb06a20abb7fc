"""What views share: turning a refusal into words on the page."""

from collections.abc import Callable
from typing import TypeVar

from django import forms
from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest

from accounts.errors import Refused

Result = TypeVar("Result")


def attempt(
    request: HttpRequest, act: Callable[[], Result], form: forms.BaseForm | None = None
) -> Result | None:
    """Call a verb. A refusal goes to the form field it names, or above the page; a foreign id is a 404."""
    try:
        return act()
    except ObjectDoesNotExist:
        raise Http404 from None
    except Refused as refusal:
        if form is not None:
            form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal.text))
        else:
            messages.error(request, str(refusal.text))
        return None
