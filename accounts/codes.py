"""A code of an authenticator app counts once (RFC 6238, section 5.2), in whichever process and however many come at once.

django-allauth remembers used codes in the cache, which belongs to one process and is empty after a restart; this is kept
beside the secret, under a lock. Recovery codes need nothing: allauth crosses them off in the database.
"""

import hashlib
import time
from typing import Final

from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from django.db import transaction

SPENT: Final = "spent"


def spend(*, authenticator: Authenticator, code: str) -> bool:
    """Note that this code was used; False when it was before, while it could still fit. Owns its transaction.

    Who wins: the row of the authenticator is locked, so of equal codes at once the first.
    """
    if authenticator.type != Authenticator.Type.TOTP:
        return True
    lasts = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)
    digest = hashlib.sha256("".join(code.split()).encode(errors="backslashreplace")).hexdigest()
    with transaction.atomic(durable=True):
        row = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
        now = time.time()
        spent = {one: at for one, at in dict(row.data.get(SPENT) or {}).items() if now - at <= lasts}
        if digest in spent:
            return False
        row.data[SPENT] = {**spent, digest: now}
        row.save(update_fields=["data"])
    return True
