"""Headers and cookies that every page relies on."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from django.db import OperationalError
from django.test import Client

from tests.needs import ROOT

POLICY = {
    "default-src 'self'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
    "object-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
}  # fmt: skip


@pytest.mark.django_db
def test_pages_carry_the_strict_policy(client: Client) -> None:
    response = client.get("/sign-in/")
    assert response.status_code == 200
    assert {part.strip() for part in response["Content-Security-Policy"].split(";")} == POLICY
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"


@pytest.mark.django_db
def test_health_says_what_fails(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    healthy = client.get("/healthz")
    assert healthy.status_code == 200
    assert healthy.json()["database"] == "ok"
    assert client.post("/healthz").status_code == 405

    def gone() -> str:
        raise OperationalError("connection refused")

    monkeypatch.setattr("config.health._migrations", gone)
    failing = client.get("/healthz")
    assert failing.status_code == 503
    assert failing.json()["database"] == "unreachable"


def cookies(public_url: str) -> dict[str, object]:
    names = [
        f"{kind}_COOKIE_{what}"
        for kind in ("SESSION", "CSRF")
        for what in ("NAME", "SECURE", "HTTPONLY", "SAMESITE")
    ]
    code = f"import json; from config import settings as s; print(json.dumps({{n: getattr(s, n) for n in {names}}}))"
    made = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PUBLIC_URL": public_url},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, object] = json.loads(made.stdout)
    return found


@pytest.mark.parametrize(
    ("url", "secure"), [("https://countersign.example", True), ("http://127.0.0.1:8000", False)]
)
def test_cookies_fit_the_way_people_come(url: str, secure: bool) -> None:
    found = cookies(url)
    for kind in ("SESSION", "CSRF"):
        assert found[f"{kind}_COOKIE_SECURE"] is secure
        assert found[f"{kind}_COOKIE_HTTPONLY"] is True
        assert found[f"{kind}_COOKIE_SAMESITE"] == "Lax"
        assert str(found[f"{kind}_COOKIE_NAME"]).startswith("__Host-") is secure
