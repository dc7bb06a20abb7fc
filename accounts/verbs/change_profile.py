"""A person changes their own name, language and time zone."""

import uuid

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from accounts.access import zones
from accounts.errors import Refused
from accounts.models import User


def change_profile(*, user_id: uuid.UUID, name: str, language: str, time_zone: str) -> None:
    """One statement. Empty language or time zone: as the browser says."""
    if not name.strip():
        raise Refused("no_name", _("Enter your name."), field="name")
    if language and language not in dict(settings.LANGUAGES):
        raise Refused("unknown_language", _("Choose one of the languages."), field="language")
    if time_zone and time_zone not in zones():
        raise Refused("unknown_zone", _("Choose one of the time zones."), field="time_zone")
    User.objects.filter(pk=user_id).update(name=name.strip(), language=language, time_zone=time_zone)
