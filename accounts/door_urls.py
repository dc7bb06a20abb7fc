"""The door: sign-in, sign-out, passwords, second factor. The views are django-allauth's, under the names that it
reverses; what is not listed (sign-up, e-mail management) does not exist here."""

from allauth.account import views
from allauth.mfa.base import views as factor
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from django.urls import path, re_path

from accounts.proof import rotating
from accounts.throttle import Rate, limited

urlpatterns = [
    path("sign-in/", views.login, name="account_login"),
    path("sign-out/", views.logout, name="account_logout"),
    path("sign-in/disabled/", views.account_inactive, name="account_inactive"),
    path("sign-in/again/", rotating(views.reauthenticate), name="account_reauthenticate"),
    path(
        "sign-in/password/",
        limited(views.password_change, Rate("password-change", per_address=60, per_person=10)),
        name="account_change_password",
    ),
    path(
        "sign-in/reset/",
        limited(views.password_reset, Rate("password-reset", per_address=30), per_field=("email", 5)),
        name="account_reset_password",
    ),
    path("sign-in/reset/sent/", views.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^sign-in/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        limited(views.password_reset_from_key, Rate("password-reset-key", per_address=30)),
        name="account_reset_password_from_key",
    ),
    path(
        "sign-in/reset/done/", views.password_reset_from_key_done, name="account_reset_password_from_key_done"
    ),
    path("sign-in/factor/", factor.index, name="mfa_index"),
    path("sign-in/factor/code/", factor.authenticate, name="mfa_authenticate"),
    path("sign-in/factor/again/", rotating(factor.reauthenticate), name="mfa_reauthenticate"),
    path("sign-in/factor/on/", totp.activate_totp, name="mfa_activate_totp"),
    path("sign-in/factor/off/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("sign-in/factor/recovery/", codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("sign-in/factor/recovery/new/", codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("sign-in/factor/recovery/file/", codes.download_recovery_codes, name="mfa_download_recovery_codes"),
]
