"""``Idempotency-Key``: the same POST again gives the first answer, another body under the same key is refused.

The row is made before the work and completed after it; a request that died in between may be taken over after a minute,
and the verbs behind the doors are themselves safe to repeat under the same key.
"""

import hashlib
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.canonical import canonical
from accounts.models import ApiToken, IdempotentRequest
from accounts.rest.problems import CONTENT_TYPE, Problem

TAKE_OVER_AFTER = timedelta(minutes=1)
LONGEST = 120


def key_of(request: Request) -> str:
    """The client's key. Raises a 400 problem when it is missing or too long."""
    key = request.headers.get("Idempotency-Key", "").strip()
    if not key or len(key) > LONGEST or not key.isprintable():
        detail = f"Send a header Idempotency-Key of 1 to {LONGEST} characters. Nothing was done."
        raise Problem(400, "idempotency_key_missing", detail)
    return key


def once(request: Request, work: Callable[[], Response]) -> Response:
    """Does ``work`` for the first request under this key; repeats get the answer of the first."""
    token = request.auth
    if not isinstance(token, ApiToken):
        raise Problem(401, "not_signed_in", "Send a bearer token. Nothing was done.")
    key, digest = key_of(request), _digest(request)
    mine = IdempotentRequest.everywhere.filter(tenant_id=token.tenant_id, user_id=token.user_id, key=key)
    if not _start(token, key, digest):
        found = mine.get()
        if found.digest != digest:
            detail = "This key was used for another request. Nothing was done. Use a new key."
            raise Problem(422, "key_reused", detail)
        if found.status is not None:
            return _replay(found)
        taken = mine.filter(status=None, started_at__lt=Now() - TAKE_OVER_AFTER).update(started_at=Now())
        if taken != 1:
            detail = "The first request under this key is still under way. Ask again in a moment."
            raise Problem(409, "in_progress", detail)
    try:
        response = work()
    except BaseException:
        # Refused or broken: nothing was done that a repeat would not find, so the key is free again.
        mine.filter(status=None).delete()
        raise
    headers = {name: response[name] for name in ("Location", "ETag") if response.has_header(name)}
    mine.update(status=response.status_code, body=response.data, headers=headers)
    return response


def _start(token: ApiToken, key: str, digest: str) -> bool:
    row = IdempotentRequest(tenant_id=token.tenant_id, user_id=token.user_id, key=key, digest=digest)
    with transaction.atomic():
        made = IdempotentRequest.everywhere.bulk_create([row], ignore_conflicts=True)
    return IdempotentRequest.everywhere.filter(pk=made[0].pk).exists()


def _replay(found: IdempotentRequest) -> Response:
    status = found.status or 200
    content_type = CONTENT_TYPE if status >= 400 else None
    response = Response(found.body, status=status, content_type=content_type)
    for name, value in found.headers.items():
        response[name] = value
    response["Idempotent-Replay"] = "true"
    return response


def _digest(request: Request) -> str:
    json = request.content_type.startswith("application/json")
    body = canonical(request.data) if json else _form(request)
    words = [(request.method or "").encode(), request.path.encode(), body]
    return hashlib.sha256(b"\0".join(words)).hexdigest()


def _form(request: Request) -> bytes:
    """Fields and files of a form, the files by name and content."""
    parts = [f"{name}={value}" for name, values in sorted(request.POST.lists()) for value in values]
    for name, file in sorted(request.FILES.items()):
        content = hashlib.sha256()
        for chunk in file.chunks():
            content.update(chunk)
        file.seek(0)
        parts.append(f"{name}={file.name}:{content.hexdigest()}")
    return "\0".join(parts).encode("utf-8", "surrogatepass")
