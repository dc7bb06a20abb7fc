"""What passes between the engine and the node. Plain values; imports neither Django nor Celery."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

#: How an execution ended. ``failed``: known not to have happened · ``unknown``: an effect that nobody can tell ·
#: ``lost``: its child died · ``timeout``: killed or cancelled at its limit · ``drained``: given back at shutdown or not
#: started in time · ``cancelled``: the tool stopped at a safe point because its run was cancelled · ``waiting``: begin
#: refused for now.
Ending = Literal["succeeded", "failed", "unknown", "lost", "timeout", "drained", "cancelled", "waiting"]

#: Endings that count against the tenant's share of the workers for a while (L18).
CHARGED = ("failed", "timeout", "lost", "unknown")


#: The error code of an execution that could not read an artifact, because that is lost or corrupt. Its output is then
#: ``{"artifact": sha256, "found": "missing" | "corrupt"}``.
DAMAGED = "artifact_damaged"


@dataclass(slots=True)
class Claimed:
    """A step under lease. ``arguments`` is JSON text ``{"arguments": {…}, "inputs": {step key: output}}`` (``inputs`` may be
    missing, then there are none); ``context`` is JSON text too, both passed on unparsed. ``version`` and ``run_epoch`` are
    those of the run when ``context`` was read. ``spec`` is what the child needs of the contract. ``sent`` is the monotonic
    clock just before the claim was asked for: the local deadline counts from it. ``consumes``: it was given outputs of
    other steps, and its result counts only while they are the accepted ones (L13)."""

    step_id: uuid.UUID
    run_id: uuid.UUID
    tenant_id: uuid.UUID
    key: str
    kind: str
    tool: str
    pool: str
    attempt: int
    failures: int
    losses: int
    epoch: int
    fence: int
    timeout_seconds: float
    arguments: str
    context: str
    version: int
    agent: str
    agent_version: str
    spec: Mapping[str, Any]
    intent_id: uuid.UUID | None = None
    intent_key: str = ""
    contract_id: uuid.UUID | None = None
    sent: float = 0.0
    run_epoch: int = 1
    consumes: bool = False


@dataclass(slots=True)
class Stored:
    """A file that a tool stored: content-addressed, already in the artifact storage."""

    sha256: str
    size: int
    media_type: str
    name: str
    kind: str = "output"
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Plan:
    """What the agent said, against ``version`` of the run. ``directives`` are tagged dictionaries (``{"do": "call", …}``).
    ``summary`` and ``folded``: a new summary and how many of the oldest ended steps it takes in, when it was time.
    ``error``: the agent raised or hung; a takeover opens."""

    version: int
    directives: list[dict[str, Any]] = field(default_factory=list)
    summary: Mapping[str, Any] | None = None
    folded: int = 0
    error: str = ""


@dataclass(slots=True)
class Outcome:
    """One execution of a claimed step, as its child (or its death) reported it. ``output`` is JSON-able and already
    storable. ``dispatch_id`` is set when the child was told to go."""

    claimed: Claimed
    ending: Ending
    output: Any = None
    error_code: str = ""
    error_text: str = ""
    artifacts: list[Stored] = field(default_factory=list)
    plan: Plan | None = None
    dispatch_id: uuid.UUID | None = None
    reference: str = ""
    tokens: int = 0
    cost: str = "0"
    milliseconds: int = 0


@dataclass(frozen=True, slots=True)
class Go:
    """Begin said yes: send under this dispatch, before ``seconds`` have passed since the question was asked. ``version`` of
    the run after it, if nothing else has moved since the claim: a plan may be made against that; else -1."""

    dispatch_id: uuid.UUID
    key: str
    fence: int
    seconds: float
    version: int = -1


@dataclass(frozen=True, slots=True)
class Stop:
    """Begin said no. ``answer`` is the first answer when the effect is already confirmed (then the step has succeeded);
    otherwise the step waits (``waiting``), or it is not ours any more (``lost``)."""

    why: Literal["answered", "waiting", "lost", "unknown"]
    code: str
    text: str
    answer: Any = None


@dataclass(slots=True)
class Committed:
    """What a commit did: steps that go on at once (already claimed for this node), and what was refused. ``more``: it left
    steps that somebody may claim."""

    next: list[Claimed] = field(default_factory=list)
    refused: list[Outcome] = field(default_factory=list)
    finished_runs: list[uuid.UUID] = field(default_factory=list)
    events: dict[uuid.UUID, int] = field(default_factory=dict)
    more: bool = False
