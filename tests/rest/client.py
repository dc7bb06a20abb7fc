"""A REST client of one person, with a token made for the test."""

from __future__ import annotations

from typing import Any

import orjson
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts import tokens
from accounts.ids import new_id
from accounts.models import Tenant, User


class Rest:
    """Speaks JSON under ``/api/v1``; every POST has a fresh key unless one is given."""

    def __init__(self, user: User, tenant: Tenant, *scopes: str, high_risk: bool = True) -> None:
        if "decide" in scopes:
            scopes = (*scopes, *(["decide_high_risk"] if high_risk else []))
        _, plain = tokens.issue(user_id=user.pk, tenant_id=tenant.pk, name="test", scopes=scopes)
        self.client = Client(headers={"Authorization": f"Bearer {plain}"}, raise_request_exception=False)

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"/api/v1/{path}", query)

    def post(
        self, path: str, body: Any = None, *, key: str = "", raw: bytes | None = None, **headers: str
    ) -> Any:
        return self.client.post(
            f"/api/v1/{path}",
            raw if raw is not None else orjson.dumps(body if body is not None else {}),
            content_type="application/json",
            headers={"Idempotency-Key": key or new_id().hex, **headers},
        )

    def upload(self, data: bytes, name: str, *, key: str = "") -> Any:
        return self.client.post(
            "/api/v1/uploads/",
            {"file": SimpleUploadedFile(name, data)},
            headers={"Idempotency-Key": key or new_id().hex},
        )
