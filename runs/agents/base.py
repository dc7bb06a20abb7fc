"""What an agent sees, what it may say, and how its versions are told apart. Imports neither Django nor Celery."""

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class StepView:
    """One ended step as the agent sees it: ``status`` is SUCCEEDED, FAILED, SKIPPED or CANCELLED."""

    key: str
    kind: str
    tool: str
    status: str
    output: Any = None
    error_code: str = ""
    error_text: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """All that an agent may decide from.

    ``recent`` are the ended steps that are not yet in ``summary``, oldest first, in full (at least the last four once
    there are as many); ``live`` are the keys of steps that have not ended. ``today`` is the database's date (ISO 8601) at
    submission, so that the same context always gives the same plan.
    """

    goal: str
    input: Mapping[str, Any]
    summary: Mapping[str, Any]
    recent: Sequence[StepView] = ()
    live: Sequence[str] = ()
    ended: int = 0
    today: str = ""

    def last(self, key: str) -> StepView | None:
        """The ended step of that key among the recent ones."""
        return next((step for step in reversed(self.recent) if step.key == key), None)

    def status(self, key: str) -> str | None:
        """The final status of an ended step, from the recent ones or the summary's ``steps``."""
        step = self.last(key)
        return step.status if step else self.summary.get("steps", {}).get(key)


@dataclass(frozen=True, slots=True)
class Call:
    """Call a tool. ``key`` is the step's stable name: equal keys are one step, whatever the arguments (L9).

    ``after`` maps step keys to ``succeeded`` or ``ended``: what must have ended before, and how. ``inputs`` names steps
    whose outputs the runtime adds to the arguments under ``inputs`` at claim time. ``why`` and ``evidence`` are shown to
    whoever must approve. ``expected`` marks a call of the plan preview that may not come to pass.
    """

    key: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    after: Mapping[str, str] = field(default_factory=dict)
    inputs: Sequence[str] = ()
    target: str = ""
    why: str = ""
    evidence: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Finish:
    """The run has succeeded. Invalid while steps are live."""

    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fail:
    """The run has failed, for a reason that a person can read."""

    code: str
    text: str


Directive = Call | Finish | Fail


@dataclass(frozen=True, slots=True)
class Expected:
    """A step of the plan preview: as :class:`Call`, but with what is known before anything ran."""

    title: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    target: str = ""
    conditional: str = ""


class Agent:
    """Base of all agents. ``name`` and ``version`` pin a run; ``digest`` is made from the source of the class, so code that
    changed without a new version is noticed."""

    name: ClassVar[str]
    version: ClassVar[str]
    title: ClassVar[str] = ""
    description: ClassVar[str] = ""
    input_schema: ClassVar[Mapping[str, Any]] = {}
    budget: ClassVar[Mapping[str, Any]] = {"steps": 500, "tool_calls": 500, "wall_seconds": 86_400}
    tools: ClassVar[Sequence[str]] = ()

    def next(self, context: Context) -> Sequence[Directive]:
        """Pure: equal contexts give equal directives. Directives whose key exists already are ignored."""
        raise NotImplementedError(f"{type(self).__name__} must say what comes next")

    def expected(self, input: Mapping[str, Any]) -> Sequence[Expected]:
        """The steps to expect for this input, in order, for the plan preview."""
        return ()

    def summarise(self, summary: Mapping[str, Any], steps: Sequence[StepView]) -> dict[str, Any]:
        """Folds ended steps into the summary. Pure, and associative over the order of ``steps``."""
        done = {**summary.get("steps", {}), **{step.key: step.status for step in steps}}
        return {**summary, "steps": done}

    @classmethod
    def digest(cls) -> str:
        """SHA-256 over the source of the agent's classes, hexadecimal."""
        sources = [inspect.getsource(c) for c in cls.__mro__ if issubclass(c, Agent) and c is not Agent]
        return hashlib.sha256("\n".join([cls.name, cls.version, *sources]).encode()).hexdigest()
