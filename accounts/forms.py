"""Forms of this room: they check what was typed; the rules are in the verbs."""

from datetime import timedelta
from typing import Any

from allauth.account.forms import LoginForm, ResetPasswordForm
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from django import forms
from django.conf import settings
from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts import codes, door, limits
from accounts.access import zones
from accounts.canonical import BadInput, check_storable
from accounts.models import Role, TokenScope, User

DECIDING = frozenset({TokenScope.DECIDE.value, TokenScope.DECIDE_HIGH_RISK.value})
ROLE_HINT = _("What a person may do. Nobody approves what they asked for themselves.")


class SignInForm(LoginForm):  # type: ignore[misc]
    """The first factor, in the words of this house; the way to a new password stands below the button."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain_address(self.fields["login"])
        self.fields["password"].help_text = ""
        self.fields["password"].widget.attrs.pop("placeholder", None)
        self.fields["remember"].label = _("Stay signed in on this machine")


class ResetForm(ResetPasswordForm):  # type: ignore[misc]
    """Where to send the link for a new password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _plain_address(self.fields["email"])


def _plain_address(field: forms.Field) -> None:
    field.label = _("E-mail")
    field.widget.attrs.pop("placeholder", None)


class CodeLimit:
    """Ten codes in five minutes, right or wrong, whichever session they come from: six digits can be guessed. And each
    code once."""

    user: User
    authenticator: Authenticator

    def clean_code(self) -> str:
        if not limits.allow(key=f"second-factor:{self.user.pk}", limit=10, seconds=door.WINDOW):
            raise ValidationError(door.TOO_MANY, code="too_many_login_attempts")
        code: str = super().clean_code()  # type: ignore[misc]
        if not codes.spend(authenticator=self.authenticator, code=code):
            raise ValidationError(_("This code was used already. Wait for the next one."), code="code_used")
        return code


class SecondFactorForm(CodeLimit, AuthenticateForm):  # type: ignore[misc]
    """The code after the password."""


class SecondFactorAgainForm(CodeLimit, ReauthenticateForm):  # type: ignore[misc]
    """The code before something that matters."""


class StorableForm(forms.Form):
    """Refuses text that cannot be stored (faults B78, B79), where Django's own check leaves a gap."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name, value in list(cleaned.items()):
            try:
                check_storable(value if isinstance(value, str) else "")
            except BadInput:
                self.add_error(name, _("This text holds a character that cannot be stored. Remove it."))
        return cleaned


class RolesForm(StorableForm):
    """What a person may do."""

    roles = forms.MultipleChoiceField(
        label=_("May"), choices=Role.choices, widget=forms.CheckboxSelectMultiple, help_text=ROLE_HINT
    )


class InviteForm(RolesForm):
    """Invite by mail."""

    email = forms.EmailField(label=_("E-mail address"), max_length=254)
    name = forms.CharField(label=_("Name"), max_length=200, required=False)
    field_order = ["email", "name", "roles"]


def _password(label: Any, hint: Any = "") -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "new-password"})
    return forms.CharField(label=label, widget=widget, help_text=hint, strip=False)


class AcceptForm(StorableForm):
    """A person who is new here chooses a name and a password."""

    name = forms.CharField(label=_("Name"), max_length=200, widget=forms.TextInput({"autocomplete": "name"}))
    password1 = _password(_("Password"), _("At least 10 characters."))
    password2 = _password(_("The same password again"))

    def __init__(self, *args: Any, email: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def clean_password1(self) -> str:
        return _checked(self.cleaned_data["password1"], self.email, self.data.get("name", ""))

    def clean_password2(self) -> str:
        second: str = self.cleaned_data["password2"]
        if self.cleaned_data.get("password1", second) != second:
            raise ValidationError(_("The two passwords differ."))
        return second


def _checked(password: str, email: str, name: str) -> str:
    password_validation.validate_password(password, User(email=email, name=name))
    return password


class AddPersonForm(StorableForm):
    """Add without a letter: the administrator hands the first password over."""

    name = forms.CharField(label=_("Name"), max_length=200)
    email = forms.EmailField(label=_("E-mail address"), max_length=254)
    password = _password(_("First password"), _("Hand it over yourself; the person can change it."))
    roles = forms.MultipleChoiceField(
        label=_("May"), choices=Role.choices, widget=forms.CheckboxSelectMultiple, help_text=ROLE_HINT
    )

    def clean_password(self) -> str:
        return _checked(self.cleaned_data["password"], self.data.get("email", ""), self.data.get("name", ""))


class ProfileForm(StorableForm):
    """A person's own name, language and time zone."""

    name = forms.CharField(label=_("Name"), max_length=200)
    language = forms.ChoiceField(label=_("Language"), required=False)
    time_zone = forms.ChoiceField(label=_("Time zone"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        follow = [("", _("As the browser says"))]
        self.fields["language"].choices = [*follow, *settings.LANGUAGES]  # type: ignore[attr-defined]
        self.fields["time_zone"].choices = [*follow, *((zone, zone) for zone in sorted(zones()))]  # type: ignore[attr-defined]


class TokenForm(StorableForm):
    """A new API token. ``decide`` is offered to approvers only and never chosen beforehand."""

    LIFETIMES = [("30", _("30 days")), ("90", _("90 days")), ("365", _("1 year")), ("", _("never"))]

    name = forms.CharField(
        label=pgettext_lazy("token", "Name"),
        max_length=100,
        help_text=_("What uses it, for example: ERP import."),
    )
    scopes = forms.MultipleChoiceField(label=_("May"), widget=forms.CheckboxSelectMultiple)
    lifetime = forms.ChoiceField(label=_("Ends"), choices=LIFETIMES, initial="90", required=False)

    def __init__(self, *args: Any, may_decide: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [one for one in TokenScope.choices if may_decide or one[0] not in DECIDING]
        self.fields["scopes"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        scopes = set(cleaned.get("scopes") or ())
        if TokenScope.DECIDE_HIGH_RISK in scopes and TokenScope.DECIDE not in scopes:
            self.add_error("scopes", _("A token that decides on high risk is one that decides: choose both."))
        days = cleaned.get("lifetime")
        if TokenScope.DECIDE_HIGH_RISK in scopes and not days:
            self.add_error("lifetime", _("A token that decides on high risk has an end: choose one."))
        cleaned["expires_at"] = timezone.now() + timedelta(days=int(days)) if days else None
        return cleaned
