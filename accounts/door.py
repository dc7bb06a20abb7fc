"""The door: how django-allauth signs people in here. No open sign-up; every try is counted by the
database."""

import base64
import hashlib
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from accounts import letters, limits, rights
from accounts.addresses import client_address
from accounts.models import User

WINDOW = 300.0
FAILURES_PER_ACCOUNT = 10
FAILURES_PER_ADDRESS = 50
TOO_MANY = _("Too many tries. Nothing was checked. Wait five minutes, then try again.")
SWITCHED_OFF = _("This account is switched off everywhere. Ask an administrator of your organisation.")
SILENT = {"account/messages/logged_in.txt", "account/messages/logged_out.txt"}


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-in by e-mail address and password."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "account_inactive": _("This account is disabled. Ask an administrator."),
        "email_password_mismatch": _("That password does not fit this e-mail address."),
        "too_many_login_attempts": TOO_MANY,
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request.META)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """A try is taken before the password is looked at and given back when it was right: parallel tries
        can never see more passwords than the limit, and people who type well are never slowed down."""
        keys = take_tries(request, str(credentials.get("email", "")))
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        if user is not None:
            for key in keys:
                limits.give_back(key=key, seconds=WINDOW)
            if isinstance(user, User) and not rights.memberships(user_id=user.pk):
                raise ValidationError(SWITCHED_OFF, code="account_inactive")
        return user

    def reauthenticate(self, user: AbstractBaseUser, password: str) -> bool:
        found = self.authenticate(self.request, email=getattr(user, "email", ""), password=password)
        return found is not None and found.pk == user.pk

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """The only letter of allauth that is used here; the link is made when the letter is written."""
        if template_prefix != "account/email/password_reset_key":
            raise NotImplementedError(template_prefix)
        user: User = context["user"]
        letters.ask(
            kind="password-reset",
            tenant_id=None,
            payload={"user_id": user.pk, "language": get_language() or settings.LANGUAGE_CODE},
        )

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        if message_template not in SILENT:
            super().add_message(request, level, message_template, *args, **kwargs)


def take_tries(request: HttpRequest, email: str) -> list[str]:
    """Count one try for the account and one for the address; raises ValidationError when either is used
    up."""
    address = f"sign-in-from:{client_address(request.META)}"
    account = f"sign-in:{email.strip().lower()}"
    if not limits.allow(key=address, limit=FAILURES_PER_ADDRESS, seconds=WINDOW):
        raise ValidationError(TOO_MANY, code="too_many_login_attempts")
    if not limits.allow(key=account, limit=FAILURES_PER_ACCOUNT, seconds=WINDOW):
        raise ValidationError(TOO_MANY, code="too_many_login_attempts")
    return [address, account]


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of authenticator apps are encrypted with a key derived from SECRET_KEY."""

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()


def _cipher() -> Fernet:
    key = hashlib.sha256(b"countersign.second-factor.1\0" + str(settings.SECRET_KEY).encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
