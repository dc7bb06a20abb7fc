"""A step as it travels to a child, and the report that comes back. One file, so that both sides agree."""

import uuid
from dataclasses import dataclass, field
from typing import Any

import orjson

from runs.engine.types import Claimed, Go, Stop
from runs.leases import Terms

#: A step that a child has not started after this part of its lease is given back.
START_WITHIN = 1 / 3
NOT_STARTED = "not_started"


@dataclass(slots=True)
class Work:
    """One step for a child. ``start_by`` and ``lease_until`` are on `clock.boot`; ``given`` is the step's input as stored:
    ``{"arguments": …, "inputs": {step key: output}}``. The order of the fields is the order on the wire."""

    step: str
    fence: int
    attempt: int
    run: str
    tenant: str
    key: str
    kind: str
    tool: str
    timeout: float
    start_by: float
    lease_until: float
    intent_key: str
    agent: str
    agent_version: str
    version: int
    spec: dict[str, Any]
    given: dict[str, Any]
    context: dict[str, Any]

    @property
    def arguments(self) -> dict[str, Any]:
        found = self.given.get("arguments")
        return found if isinstance(found, dict) else {}


def item(claimed: Claimed, *, terms: Terms) -> list[Any]:
    """A claimed step as it goes down: what is JSON text already is passed on unparsed."""
    return [
        claimed.step_id,
        claimed.fence,
        claimed.attempt,
        claimed.run_id,
        claimed.tenant_id,
        claimed.key,
        claimed.kind,
        claimed.tool,
        claimed.timeout_seconds,
        claimed.sent + terms.lease * START_WITHIN,
        terms.local_deadline(claimed.sent),
        claimed.intent_key,
        claimed.agent,
        claimed.agent_version,
        claimed.version,
        claimed.spec,
        orjson.Fragment(claimed.arguments),
        orjson.Fragment(claimed.context),
    ]


@dataclass(slots=True)
class Report:
    """How an execution ended, as the child saw it; the names are those of `runs.engine.types.Outcome`. ``sent``: the effect
    was begun and handed to its adapter. The order of the fields is the order on the wire."""

    step: str
    fence: int
    ending: str
    output: Any = None
    error_code: str = ""
    error_text: str = ""
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    plan: dict[str, Any] | None = None
    reference: str = ""
    milliseconds: int = 0
    tokens: int = 0
    cost: str = "0"
    sent: bool = False

    def row(self) -> list[Any]:
        return [getattr(self, name) for name in self.__slots__]


def reply_down(reply: Go | Stop) -> dict[str, Any]:
    """The answer to a child that asked to begin."""
    if isinstance(reply, Go):
        return {"go": [reply.dispatch_id, reply.key, reply.fence, reply.seconds, reply.version]}
    return {"stop": [reply.why, reply.code, reply.text, reply.answer]}


def reply_up(message: dict[str, Any]) -> Go | Stop:
    if go := message.get("go"):
        return Go(uuid.UUID(go[0]), go[1], int(go[2]), float(go[3]), int(go[4]))
    why, code, text, answer = message["stop"]
    return Stop(why, code, text, answer)
