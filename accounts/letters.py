"""Letters that this room wants written. The post room above carries them; it is named in the settings,
because nothing here may import upward. What travels holds no secret: links are made when the letter is
written."""

import hashlib
import hmac
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from allauth.account import app_settings as account_settings
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import translation
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from accounts.models import Invitation, User


@dataclass(frozen=True, slots=True)
class Letter:
    """Plain text to one address. ``subject`` is a single line."""

    to: str
    subject: str
    text: str


def ask(*, kind: str, tenant_id: uuid.UUID | None, payload: Mapping[str, Any]) -> None:
    """Ask for a letter. Joins the caller's transaction: no commit, no letter."""
    import_string(settings.POST_ROOM)(kind=kind, tenant_id=tenant_id, payload=payload)


def compose(*, kind: str, payload: Mapping[str, Any]) -> Letter | None:
    """Write a letter that was asked for; None when it has become pointless since."""
    return {"password-reset": _password_reset, "invitation": _invitation}[kind](payload)


def invitation_secret(invitation_id: uuid.UUID) -> str:
    """The secret in an invitation's link: derived, so that only its digest need be kept."""
    key = hashlib.sha256(b"countersign.invitation.1\0" + str(settings.SECRET_KEY).encode()).digest()
    return hmac.new(key, invitation_id.bytes, "sha256").hexdigest()


def page(name: str, *args: Any) -> str:
    """The full address of one of our pages, always at PUBLIC_URL whatever Host a request claimed."""
    return str(settings.PUBLIC_URL) + reverse(name, args=args)


def _password_reset(payload: Mapping[str, Any]) -> Letter | None:
    user = User.objects.filter(pk=uuid.UUID(payload["user_id"]), is_active=True).first()
    if user is None:
        return None
    generator = account_settings.PASSWORD_RESET_TOKEN_GENERATOR()
    link = page("account_reset_password_from_key", user_pk_to_url_str(user), generator.make_token(user))
    with translation.override(user.language or payload.get("language") or settings.LANGUAGE_CODE):
        text = _(
            "Hello %(name)s,\n\nsomebody asked for a new password for this address, probably you. "
            "Choose it here:\n\n%(link)s\n\nThe link is good for one hour and one use. "
            "If it was not you, do nothing: your password stays as it is."
        ) % {"name": user.name, "link": link}
        return Letter(user.email, _("Countersign: choose a new password"), text)


def _invitation(payload: Mapping[str, Any]) -> Letter | None:
    found = (
        Invitation.everywhere.select_related("tenant", "invited_by")
        .filter(pk=uuid.UUID(payload["invitation_id"]), accepted_at__isnull=True, withdrawn_at__isnull=True)
        .filter(expires_at__gt=Now())
        .first()
    )
    if found is None:
        return None
    facts = {
        "name": found.invited_by.name,
        "tenant": found.tenant.name,
        "link": page("accounts:invitation", invitation_secret(found.pk)),
    }
    with translation.override(found.tenant.language):
        text = (
            _(
                "Hello,\n\n%(name)s asks you to join %(tenant)s on Countersign, where agents propose and a "
                "person signs. Choose your name and password here:\n\n%(link)s\n\nThe link is good for seven "
                "days. Opening it changes nothing. If you did not expect this letter, do nothing."
            )
            % facts
        )
        return Letter(found.email, _("Countersign: invitation to %(tenant)s") % facts, text)
