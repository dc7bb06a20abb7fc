"""What a draft would mean: the verdict for an example, contradictions, and recorded calls judged again."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from accounts import ids
from accounts.canonical import BadInput, strict_loads
from tools import gate, named, replay, selectors, staffing, totals, vault
from tools import policy as policies
from tools.contradictions import contradictions
from tools.models import Contract, Intent
from tools.present.path import PathToday, look, rule_words
from tools.reasons import Problem

COLUMNS = 78
#: Edge of a square and distance between two, in the units of the drawing.
EDGE, PITCH = "3.6", 5


@dataclass(frozen=True, slots=True)
class Square:
    """One recorded call in the drawing."""

    x: int
    y: int
    hit: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A call that would go another way."""

    at: Any
    target: str
    before: str
    after: str
    url: str


@dataclass(frozen=True, slots=True)
class Consequences:
    """``example`` is what was judged; ``example_fault``: why it cannot be. ``publishable``: nothing speaks against
    publishing."""

    verdict: PathToday | None
    before: str
    rules: Sequence[tuple[bool, str]]
    example: str
    example_fault: str
    problems: Sequence[Problem]
    replay: replay.Replay
    squares: Sequence[Square]
    height: int
    counts: Sequence[tuple[int, str]]
    hits: Sequence[Hit]

    @property
    def publishable(self) -> bool:
        return not self.problems


def consequences(*, draft: Contract, live: Contract | None, example: str) -> Consequences:
    """Judges without a trace: nothing is stored, nothing is sent."""
    problems = [
        *contradictions(draft, tools=named.by(draft)),
        *staffing.problems(draft),
        *named.broken(draft),
        *vault.missing(draft),
    ]
    well_formed = not policies.faults(draft.policy)
    arguments, fault = _example(example)
    verdict, before, fired = None, "", []
    if well_formed and not fault:
        word = _judged(draft, arguments)
        fault = _no_call_yet(draft, arguments, word)
    if well_formed and not fault:
        verdict = look(word)
        verdict = replace(verdict, why=[*verdict.why, *_held_now(draft)])
        fired = _fired(draft, arguments)
        if live is not None:
            was = look(_judged(live, arguments))
            before = "" if was.word == verdict.word else was.word
    again = replay.replay(draft=draft, live=live) if well_formed else replay.Replay([], 0)
    return Consequences(
        verdict=verdict,
        before=before,
        rules=fired,
        example=example,
        example_fault=fault,
        problems=problems,
        replay=again,
        squares=[
            Square(n % COLUMNS * PITCH, n // COLUMNS * PITCH, bool(call.change))
            for n, call in enumerate(again.calls)
        ],
        height=(len(again.calls) + COLUMNS - 1) // COLUMNS * PITCH,
        counts=[
            (again.changed("asks"), _("would newly ask a person.")),
            (again.changed("asks_more"), _("would newly ask more people.")),
            (again.changed("alone"), _("would newly run without being asked.")),
            (again.changed("blocked"), _("would newly be blocked.")),
        ],
        hits=[_hit(call) for call in again.calls if call.change][:20],
    )


def last_example(contract: Contract) -> str:
    """Arguments to begin with: those of the last recorded call, else what the schema asks for, made up."""
    last = (
        Intent.everywhere.filter(tenant_id=contract.tenant_id, tool_id=contract.tool_id)
        .order_by("-created_at")
        .values_list("arguments", flat=True)
        .first()
    )
    return _text(last or _made_up(contract.input_schema))


def _text(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, indent=2, ensure_ascii=False)


def _made_up(schema: Any) -> dict[str, Any]:
    """A value for each argument that the schema requires; people change them to what they want to know."""
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return {}
    wanted = schema.get("required")
    names = [name for name in wanted if isinstance(name, str)] if isinstance(wanted, list) else []
    return {name: _value(schema["properties"].get(name)) for name in names[:50]}


def _value(schema: Any) -> Any:
    known = schema if isinstance(schema, dict) else {}
    for name in ("default", "const"):
        if name in known:
            return known[name]
    for name in ("examples", "enum"):
        if isinstance(known.get(name), list) and known[name]:
            return known[name][0]
    blank: dict[str, Any] = {
        "number": 1,
        "integer": 1,
        "boolean": False,
        "array": [],
        "object": {},
        "null": None,
    }
    return blank.get(str(known.get("type")), "text")


def _no_call_yet(draft: Contract, arguments: Mapping[str, Any], word: gate.Verdict) -> str:
    """What is said instead of a verdict about an example that nobody thought of and that does not fit."""
    if arguments != _made_up(draft.input_schema) or any(
        reason.code != gate.MISFIT for reason in word.reasons
    ):
        return ""
    return _("This example is made up of the declaration. Type a call to see what becomes of it.")


def _example(text: str) -> tuple[Mapping[str, Any], str]:
    try:
        read = strict_loads(text or "{}")
    except BadInput as bad:
        return {}, _("The example is no JSON: %s") % bad.text
    return (read, "") if isinstance(read, dict) else ({}, _("The example is a JSON object, in braces."))


def _judged(contract: Contract, arguments: Mapping[str, Any]) -> gate.Verdict:
    """The gate's word on the example, as the first call of a task, after what was done today."""
    return gate.decide(
        contract=gate.facts(contract), arguments=arguments, run=gate.RunFacts(earlier=_today(contract))
    )


def _today(contract: Contract) -> list[policies.Earlier]:
    return totals.earlier(
        tenant_id=contract.tenant_id,
        tool=contract.tool.name,
        policy=contract.policy,
        run_id=None,
        key="",
    )


def _held_now(contract: Contract) -> list[str]:
    """What is switched off would hold it up today, whatever the contract says."""
    stops = selectors.stops(tenant_id=contract.tenant_id, tool_id=contract.tool_id)
    return [_("Today it would wait: %s") % gate.stopped(stop) for stop in stops]


def _fired(draft: Contract, arguments: Mapping[str, Any]) -> list[tuple[bool, str]]:
    """Each rule and whether it applies to the example."""
    found, earlier = [], _today(draft)
    for rule in draft.policy.get("rules", ()):
        ruled = policies.apply({"rules": [rule]}, arguments, tool=draft.tool.name, earlier=earlier)
        found.append((bool(ruled.blocked or ruled.approval), rule_words(rule)))
    return found


def _hit(call: replay.Call) -> Hit:
    return Hit(
        at=call.at,
        target=call.target,
        before=look(call.before).word if call.before else "",
        after=look(call.after).word,
        url=_task(call.run_id),
    )


def _task(run_id: uuid.UUID) -> str:
    try:
        return reverse("runs:task_detail", args=[ids.public("run", run_id)])
    except NoReverseMatch:
        return ""
