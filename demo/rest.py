"""A client of the REST interface for one person, as anybody could write it from `/api/v1/openapi.json`."""

from __future__ import annotations

import uuid
from typing import Any

import httpx

from demo.trouble import Trouble
from demo.words import LANGUAGE, _

SECONDS = 60.0


class Rest:
    """One person with one token. Every refusal that the story does not expect is trouble."""

    def __init__(self, url: str, token: str) -> None:
        headers = {"Accept-Language": LANGUAGE.replace("_", "-")}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=f"{url}/api/v1/", headers=headers, timeout=SECONDS, trust_env=False
        )

    def get(self, path: str, **query: Any) -> Any:
        return self.ask("GET", path, params=query).json()

    def post(self, path: str, body: Any) -> Any:
        return self.ask("POST", path, json=body).json()

    def upload(self, name: str, content: bytes) -> Any:
        return self.ask("POST", "uploads/", files={"file": (name, content)}).json()

    def ask(
        self, method: str, path: str, *, expect: int = 0, headers: Any = None, **more: Any
    ) -> httpx.Response:
        """The answer; `expect` names the one status that is right, else every success is."""
        sent = {**({"Idempotency-Key": uuid.uuid4().hex} if method == "POST" else {}), **(headers or {})}
        answer = self._http.request(method, path, headers=sent, **more)
        if answer.status_code == expect or (not expect and answer.is_success):
            return answer
        raise Trouble(
            _("{method} /api/v1/{path} was answered with {status}: {why}").format(
                method=method, path=path, status=answer.status_code, why=why(answer)
            )
        )

    def close(self) -> None:
        self._http.close()


def why(answer: httpx.Response) -> str:
    """What a problem document says, or the beginning of whatever came instead."""
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:200]
