"""Robots of a storm: each submits one task through REST and follows it to its end, as a submitter, a reviewer and a resolver
would. A resolver looks at the sink, never at the product."""

from __future__ import annotations

import json
import random
import time
import uuid
from dataclasses import dataclass, field

import httpx

from tests.crashes.drill import ENDED, Drill

#: What becomes of a task if nothing else does. Most are approved, so that most send their letter.
SHAPES = ("approved", "approved", "rejected", "approved", "approved", "cancelled")


@dataclass
class Robot:
    """One task. ``settled`` are the answers it gave to open outcomes; ``answers`` what the product said to each request."""

    drill: Drill
    name: str
    shape: str
    seed: int
    task: str = ""
    status: str = ""
    settled: list[str] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"drill-{self.name}"

    def submit(self) -> None:
        """Until it is taken, under the same key each time; now and then once more although it was."""
        file = self.drill.upload(self.name)
        self.task = self.drill.submit(self.name, file)
        if self.seed % 3 == 0:
            assert self.drill.submit(self.name, file) == self.task

    def follow(self, patience: float) -> None:
        drawn, deadline = random.Random(self.seed), time.monotonic() + patience
        cancel_at = time.monotonic() + drawn.uniform(0, 4)
        while time.monotonic() < deadline:
            try:
                self.status = str(self.drill.task(self.task)["status"])
                if self.status in ENDED:
                    return
                if self.shape == "cancelled" and time.monotonic() > cancel_at:
                    self._cancel()
                if row := self.drill.waiting(self.task, "approve"):
                    self._review(row["id"], drawn)
                if row := self.drill.waiting(self.task, "settle"):
                    self._settle(row["id"])
                if row := self.drill.waiting(self.task, "take_over"):
                    self._decide(row["id"], {"verdict": "fail", "comment": "enough"})
            except (httpx.HTTPError, KeyError, json.JSONDecodeError):
                pass
            time.sleep(drawn.uniform(0.2, 0.6))
        raise AssertionError(f"{self.name} ({self.shape}) did not end: {self.drill.task(self.task)}")

    def _cancel(self) -> None:
        answer = self.drill.ada.post(
            f"tasks/{self.task}/cancel/",
            json={"reason": "storm"},
            headers={"Idempotency-Key": f"cancel-{self.name}"},
        )
        self.answers.append(answer.status_code)

    def _review(self, action: str, drawn: random.Random) -> None:
        verdict = "reject" if self.shape == "rejected" else "approve"
        body = {"verdict": verdict, **({"comment": "no"} if verdict == "reject" else {})}
        self._decide(action, body)
        if drawn.random() < 0.3:
            self._decide(action, {"verdict": "reject", "comment": "from an old tab"})

    def _settle(self, action: str) -> None:
        verdict = "happened" if self.drill.mails(self.name) else "not_happened"
        if self._decide(action, {"verdict": verdict, "reference": "the sink", "comment": "looked"}):
            self.settled.append(verdict)

    def _decide(self, action: str, body: dict[str, str]) -> bool:
        """Once, twice under one key as a nervous finger does; whatever the answer, the product must stay right."""
        seen = self.drill.ben.get(f"actions/{action}/")
        given = {**body, "gesture": seen.json()["second_gesture"]}
        headers = {"Idempotency-Key": uuid.uuid4().hex, "If-Match": seen.headers["ETag"]}
        said = [
            self.drill.ben.post(f"actions/{action}/decide/", json=given, headers=headers).status_code
            for _ in "ab"
        ]
        self.answers += said
        return 200 in said
