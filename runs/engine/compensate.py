"""Compensate: the effects of a run that failed or was cancelled are undone, the last one first (O3, B49).

An undo is an effect like any other: a step of its own (``undo/<step key>``) with an intent, an idempotency key, a verdict of
the gate, an approval where its contract asks for one, and an UNKNOWN of its own. One at a time: the next is planned when the
one before has ended, in the transaction that ended it, from the rows; a crash at any point loses and repeats nothing. Only
what is known to have happened is undone: while an effect is UNKNOWN the run waits for its settlement first. An undo is never
undone itself, and only the tool that the effect's contract names is ever called (L21).

Every function joins a transaction that holds the run. Lock order: run, step, action, intent.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from accounts.arrows import move
from accounts.canonical import digest
from accounts.ids import new_id
from approvals.models import Decision, Verdict
from outbox.append import Fact
from runs import sentences
from runs.engine import undone
from runs.engine.ask_approval import ask_approval
from runs.engine.asks_first import asks_first
from runs.engine.doubt import may_have_happened, start_unknown
from runs.engine.ending import end_step, lock_step, resume_step
from runs.engine.release import NEVER_SENT
from runs.engine.workspace import Locked, NewStep, cursor
from runs.models import Step
from runs.selectors import fates
from runs.states import STEP_LIVE, UNDO
from tools import batches, compensation, intents, previews
from tools.gate import Verdict as Word
from tools.keys import key_for
from tools.models import Contract, EffectClass, Intent
from tools.selectors import by_id, contract_for

#: Verdicts that no lifted switch changes.
FOR_GOOD = ("arguments", "rule", "total")
LONGEST_KEY = 200


class Impossible(Exception):
    """The undo of an effect cannot be made. ``code`` and ``text`` are those of its step."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class Made:
    """An undo that can be asked for: its contract, its intent and the gate's word."""

    contract: Contract
    intent: Intent
    word: Word


def begin(run: Locked) -> bool:
    """Undoes what can be undone, before the run ends; False when there is nothing. Nothing of the run is live."""
    if run.confirmed:
        # What this very transaction learned is written now: the effect that happened last is undone first.
        batches.confirm(cursor(), run.confirmed)
        run.confirmed = []
    open_ = _open(run).count()
    if not open_:
        return False
    run.move("compensate")
    run.event("run.compensating", payload={"effects": open_})
    go_on(run)
    return True


def go_on(run: Locked) -> bool:
    """The next undo is planned, if any is left. Nothing of the run is live."""
    for effect in list(_just_undone(run)):
        _mark(run, effect)
    last = _open(run).select_related("contract", "tool").order_by("-dispatched_at", "-fence").first()
    if last is None:
        return False
    _plan(run, last)
    return True


def answered(run: Locked, decision: Decision | None) -> None:
    """A person said what becomes of an undo that could not be done: once more, or it stays as it is."""
    live = Step.everywhere.filter(run_id=run.id, kind=Step.Kind.UNDO, status__in=STEP_LIVE)
    step_id = live.values_list("pk", flat=True).first()
    step = lock_step(step_id) if step_id else None
    run.takeover, run.waiting_on = None, ""
    if step is None or step.status != Step.Status.WAITING_APPROVAL or not step.error_code or decision is None:
        return
    actor = f"user:{decision.user_id.hex}" if decision.user_id else "engine"
    if decision.verdict == Verdict.FAIL:
        _leave(run, step, decision.comment, actor)
    elif step.intent_id is None:
        _make_again(run, step, actor)
    else:
        _try_again(run, step, actor)


def summary(run: Locked) -> dict[str, Any]:
    """What was undone, what stays, and of what nobody knows; keys of intents are not told, step keys are."""
    keys = dict(Step.everywhere.filter(run_id=run.id, intent__isnull=False).values_list("intent_id", "key"))
    told: dict[str, list[str]] = {"undone": [], "left": [], "irreversible": [], "unknown": []}
    groups = {"undo_unknown": "unknown", "nobody_knows": "unknown", "open": "left"}
    for effect in fates.of_run(run.id):
        told.setdefault(groups.get(effect.fate, effect.fate), []).append(keys.get(effect.intent.pk, ""))
    return {name: found[:50] for name, found in told.items()} | {
        "counts": {name: len(found) for name, found in told.items()}
    }


def undo_key(step_key: str) -> str:
    """``undo/<step key>``; of a key too long for that, its SHA-256."""
    key = UNDO + step_key
    return key if len(key) <= LONGEST_KEY else f"{UNDO}sha256-{digest(step_key)}"


def _open(run: Locked) -> QuerySet[Intent]:
    """Effects that happened, have a way back, and whose undo was not planned yet."""
    unmade = Step.everywhere.filter(run_id=run.id, kind=Step.Kind.UNDO, intent__isnull=True)
    tried = [uuid.UUID(str(told)) for told in unmade.values_list("input__undoes", flat=True)]
    return Intent.everywhere.filter(
        run_id=run.id,
        status=Intent.Status.CONFIRMED,
        compensates__isnull=True,
        undone_by__isnull=True,
        contract__effect_class=EffectClass.COMPENSABLE,
    ).exclude(pk__in=tried)


def _just_undone(run: Locked) -> QuerySet[Intent]:
    confirmed = Intent.everywhere.select_for_update(of=("self",)).filter(run_id=run.id)
    return confirmed.filter(
        status=Intent.Status.CONFIRMED, undone_by__status=Intent.Status.CONFIRMED
    ).order_by("pk")


def _mark(run: Locked, effect: Intent) -> None:
    undo = Intent.everywhere.get(compensates=effect, status=Intent.Status.CONFIRMED)
    intents.undo(intent_id=effect.pk, evidence={"kind": "engine", "undo": undo.key})
    step = Step.everywhere.only("key").filter(pk=effect.step_id).first()
    payload = {"key": step.key if step else "", "undo": undo.pk.hex, "reference": undo.reference[:200]}
    run.event("effect.undone", step_id=effect.step_id, payload=payload)


def _plan(run: Locked, effect: Intent) -> None:
    """The step that undoes ``effect``; one that cannot be made waits for a person from the start."""
    first = Step.everywhere.only("key", "title").filter(pk=effect.step_id).first()
    what = (first.title if first else "") or effect.tool.title or effect.tool.name
    new = NewStep(new_id(), undo_key(first.key if first else effect.key), "undo")
    new.title = sentences.UNDO(what=what[:280])
    new.input = {"arguments": {}, "undoes": effect.pk.hex}
    problem: Impossible | None = None
    try:
        _ready(run, new, _make(run, effect, new.id, new.key))
    except Impossible as impossible:
        problem = impossible
        new.status, new.waiting_on = "WAITING_APPROVAL", undone.sentence(new.title)
        new.error_code, new.error_text = problem.code, problem.text[:1000]
    step = _insert(run, new)
    planned = {"key": step.key, "undoes": first.key if first else "", "tool": step.tool}
    run.event("undo.planned", step_id=step.pk, epoch=1, input_digest=step.input_digest, payload=planned)
    if problem is not None:
        undone.ask(run, step, code=problem.code, text=problem.text)


def _make(run: Locked, effect: Intent, step_id: uuid.UUID, key: str) -> Made:
    """The intent of the undo, judged. Raises :class:`Impossible`."""
    kept = effect.compensation_snapshot or compensation.snapshot(effect.contract, None)
    contract = _contract(effect, kept)
    arguments = _arguments(effect, kept)
    name = key_for(tenant_id=run.tenant_id, lineage=run.lineage, step_key=key, tool=contract.tool.name)
    word = run.reading.verdict(
        tenant_id=run.tenant_id,
        contract=contract,
        arguments=arguments,
        run_id=run.id,
        key=name,
        undoes=True,
    )
    if word.path == "blocked" and any(reason.code in FOR_GOOD for reason in word.reasons):
        raise Impossible("blocked", "; ".join(str(reason) for reason in word.reasons))
    intent = intents.propose(
        tenant_id=run.tenant_id,
        run_id=run.id,
        step_id=step_id,
        key=name,
        tool=contract.tool,
        contract=contract,
        arguments=arguments,
        target=previews.target_for(contract=contract, arguments=arguments, proposed=effect.target),
        # A switch holds it back at begin, and lets it go on when it is lifted.
        authorised=word.path != "approval",
        epoch=1,
        verdict=word.as_json(),
        compensates=effect.pk,
    )
    return Made(contract, intent, word)


def _contract(effect: Intent, kept: dict[str, Any]) -> Contract:
    """The contract that was in force when the effect was sent, else the one in force now."""
    pinned = kept.get("contract")
    found = by_id(uuid.UUID(pinned)) if pinned else None
    found = found or contract_for(tenant_id=effect.tenant_id, tool=str(kept["tool"]))
    if found is None:
        raise Impossible("undo_missing", sentences.UNDO_MISSING(tool=kept["tool"]))
    return found


def _arguments(effect: Intent, kept: dict[str, Any]) -> dict[str, Any]:
    known = {
        "argument": effect.arguments,
        "answer": effect.answer,
        "reference": effect.reference,
        "target": effect.target,
        "key": effect.key,
    }
    try:
        return compensation.arguments(kept["arguments"], known)
    except compensation.CannotMake as missing:
        text = sentences.UNDO_UNMADE(pointer=missing.pointer, name=missing.name)
        raise Impossible("undo_arguments", text) from missing


def _ready(run: Locked, new: NewStep, made: Made) -> None:
    """Fills in the step of an undo that can be asked for, and asks a person where one must agree."""
    contract, intent = made.contract, made.intent
    new.tool, new.contract, new.pool = contract.tool.name, contract.pk, contract.isolation
    new.timeout, new.intent = contract.timeout_seconds, intent.pk
    new.input["arguments"], new.input_digest = intent.arguments, digest(intent.arguments)
    new.error_code = new.error_text = new.waiting_on = ""
    new.status = "PENDING"
    if may_have_happened(run, contract):
        start_unknown(run, new, intent, why="", evidence=[])
    elif made.word.path == "approval":
        asked = ask_approval(
            run,
            step_id=new.id,
            title=new.title,
            intent=intent,
            contract=contract,
            policy=made.word.asked(),
            why=sentences.UNDO_WHY(),
            input_digest=new.input_digest,
        )
        new.status, new.waiting_on = "WAITING_APPROVAL", asked.sentence[:200]


def _insert(run: Locked, new: NewStep) -> Step:
    made: Step = Step.everywhere.create(
        id=new.id,
        run_id=run.id,
        tenant_id=run.tenant_id,
        seq=run.head.sequence + len(run.lines) + 1,
        **_row(new),
        key=new.key,
        kind=Step.Kind.UNDO,
        title=new.title,
        status=new.status,
    )
    _wake(run, made.pk, new.status)
    return made


def _row(new: NewStep) -> dict[str, Any]:
    return {
        "tool": new.tool,
        "contract_id": new.contract,
        "pool": new.pool,
        "timeout_seconds": new.timeout,
        "input": new.input,
        "input_digest": new.input_digest,
        "intent_id": new.intent,
        "waiting_on": new.waiting_on,
        "error_code": new.error_code,
        "error_text": new.error_text,
    }


def _wake(run: Locked, step_id: uuid.UUID, status: str) -> None:
    if status == "PENDING":
        wake = {"run_id": run.id.hex, "step_id": step_id.hex, "attempt": 0}
        run.facts.append(Fact(topic="step.ready", tenant_id=run.tenant_id, payload=wake))


def _leave(run: Locked, step: Step, comment: str, actor: str) -> None:
    """It stays as it is: a person says so."""
    if step.intent_id is not None:
        intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=step.intent_id)
        if intent.status in NEVER_SENT:
            intents.void(intent_id=intent.pk)
    text = comment or step.error_text
    end_step(run, step, "fail", code=step.error_code or "left", text=text, actor=actor)


def _make_again(run: Locked, step: Step, actor: str) -> None:
    """It could not be made; perhaps it can now."""
    effect = Intent.everywhere.select_related("contract", "tool").get(pk=uuid.UUID(step.input["undoes"]))
    new = NewStep(step.pk, step.key, "undo", title=step.title, input=dict(step.input))
    try:
        _ready(run, new, _make(run, effect, step.pk, step.key))
    except Impossible as still:
        undone.ask(run, step, code=still.code, text=still.text)
        return
    Step.everywhere.filter(pk=step.pk, status=Step.Status.WAITING_APPROVAL).update(**_row(new))
    step.refresh_from_db(from_queryset=Step.everywhere.all())
    if new.status == "UNKNOWN":
        move(step, "doubt", epoch=step.epoch)
    elif new.status == "PENDING":
        resume_step(run, step, actor=actor, why="undo_again")
        _wake(run, step.pk, "PENDING")


def _try_again(run: Locked, step: Step, actor: str) -> None:
    """It failed, and is known not to have happened: the same intent under the same key."""
    intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=step.intent_id)
    Step.everywhere.filter(pk=step.pk).update(failures=0, losses=0, deadline=None)
    resume_step(run, step, actor=actor, why="undo_again")
    _wake(run, step.pk, "PENDING")
    if intent.status == Intent.Status.REJECTED and not asks_first(
        run, step, intent, by_id(intent.contract_id), {}
    ):
        intents.allow_again(intent_id=intent.pk)
