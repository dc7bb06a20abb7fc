"""A run that books and then fails, for tests of undoing and of what can be undone."""

from __future__ import annotations

from typing import Any

from runs.engine.types import Claimed, Outcome
from runs.models import Event, Run, Step
from runs.selectors import fates
from tests.make import runs as make
from tests.runs.engine import hands

FAIL = [{"do": "fail", "code": "no_use", "text": "It is of no use."}]


def call(key: str, tool: str = "drill.effect") -> dict[str, Any]:
    return {"do": "call", "key": key, "tool": tool, "arguments": {"n": key}, "title": f"Book {key}"}


class Bookings:
    """A run of effects that then fails, and hands that do what its workers do. ``happened``: keys in order of sending."""

    def __init__(
        self, *rounds: list[dict[str, Any]], fails: bool = True, house: make.House | None = None
    ) -> None:
        self.house = house or make.house()
        self.happened: list[str] = []
        end = [FAIL] if fails else []
        self.run_id = hands.script_run(self.house.tenant, self.house.ada, *rounds, *end).pk

    @property
    def me(self) -> Any:
        return self.house.me

    @property
    def run(self) -> Run:
        found: Run = Run.everywhere.get(pk=self.run_id)
        return found

    @property
    def failure(self) -> dict[str, Any]:
        found: dict[str, Any] = self.run.failure or {}
        return found

    def act(self, claimed: Claimed) -> Outcome:
        if claimed.intent_id is None:
            return hands.done(claimed)
        return hands.sent(self.me, claimed, self.happened)

    def go(self) -> Bookings:
        hands.run_all(self.me, self.act)
        return self

    def until_undo(self) -> Claimed:
        """Everything up to the first undo, which is claimed."""
        for _ in range(50):
            for claimed in hands.take(self.me):
                if claimed.kind == "undo":
                    return claimed
                hands.put(self.me, self.act(claimed))
        raise AssertionError("nothing is undone")

    def fates(self) -> dict[str, str]:
        keys = dict(Step.everywhere.filter(run_id=self.run_id).values_list("intent_id", "key"))
        return {keys[one.intent.pk]: one.fate for one in fates.of_run(self.run_id)}

    def undos(self) -> list[str]:
        return [key for key in self.happened if key.startswith("undo/")]

    def answer(self, verdict: str, kind: str, **more: Any) -> None:
        self.house.answer(self.run, verdict, kind, **more)

    def events(self) -> list[str]:
        return list(
            Event.everywhere.filter(run_id=self.run_id).order_by("sequence").values_list("type", flat=True)
        )
