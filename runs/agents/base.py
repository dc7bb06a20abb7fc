"""What an agent sees, what it may say, and how its versions are told apart. Imports neither Django nor Celery."""

import functools
import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class StepView:
    """One ended step as the agent sees it: ``status`` is SUCCEEDED, FAILED, SKIPPED or CANCELLED. ``edited``: the arguments
    as a person changed them before the call, None when they are those that the agent gave."""

    key: str
    kind: str
    tool: str
    status: str
    output: Any = None
    error_code: str = ""
    error_text: str = ""
    edited: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """All that an agent may decide from.

    ``recent`` are the ended steps that are not in ``summary``, oldest first, in full: the last four to seven once there
    are as many. Where the summary ends depends on ``ended`` alone, so that a context is the same however often it was
    rebuilt. ``live`` are the keys of steps that have not ended. ``today`` is the database's date (ISO 8601) at
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
class AskPerson:
    """Ask the people of the tenant. The step's output is the answer, which fits ``schema`` (JSON Schema of an object).

    ``role`` is who may answer: ``submitter`` (whoever submitted the task among them), ``approver`` or ``administrator``
    (four eyes: not the submitter). Nobody in ``seconds``: the step fails with the code ``expired``.
    """

    key: str
    question: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    role: str = "submitter"
    seconds: int = 259_200
    why: str = ""


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Wait for a signal of that name from outside; the output is its ``payload`` and ``external_id``. One that arrived
    before is taken at once. None in ``seconds``: the step fails with the code ``timed_out``. Without a name it is a timer:
    the step succeeds when the seconds are over."""

    key: str
    signal: str = ""
    seconds: int = 86_400
    title: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """The run has succeeded. Invalid while steps are live."""

    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fail:
    """The run has failed, for a reason that a person can read."""

    code: str
    text: str


Directive = Call | AskPerson | WaitFor | Finish | Fail


@dataclass(frozen=True, slots=True)
class Expected:
    """A step of the plan preview: as :class:`Call`, but with what is known before anything ran. ``complete``: that is all of
    the arguments."""

    title: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    target: str = ""
    conditional: str = ""
    complete: bool = False


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
    #: Versions of the model and of the prompt, where the agent has them: told in each checkpoint.
    model: ClassVar[str] = ""
    prompt: ClassVar[str] = ""
    #: How often it may make the same call and get the same answer before that counts as a loop (0: as often as any agent).
    may_repeat: ClassVar[int] = 0
    #: Which tools it calls is said by its input alone.
    any_tool: ClassVar[bool] = False

    def next(self, context: Context) -> Sequence[Directive]:
        """Pure: equal contexts give equal directives. Directives whose key exists already are ignored."""
        raise NotImplementedError(f"{type(self).__name__} must say what comes next")

    def tools_for(self, input: Mapping[str, Any]) -> Sequence[str]:
        """The tools that a run with this input may call; it is pinned to their contracts at submission."""
        return self.tools

    def expected(self, input: Mapping[str, Any]) -> Sequence[Expected]:
        """The steps to expect for this input, in order, for the plan preview."""
        return ()

    def summarise(self, summary: Mapping[str, Any], steps: Sequence[StepView]) -> dict[str, Any]:
        """Folds ended steps into the summary. Pure, and associative over the order of ``steps``."""
        done = {**summary.get("steps", {}), **{step.key: step.status for step in steps}}
        return {**summary, "steps": done}

    @classmethod
    @functools.cache
    def digest(cls) -> str:
        """SHA-256 over the source of the agent's classes, hexadecimal."""
        sources = [inspect.getsource(c) for c in cls.__mro__ if issubclass(c, Agent) and c is not Agent]
        return hashlib.sha256("\n".join([cls.name, cls.version, *sources]).encode()).hexdigest()
