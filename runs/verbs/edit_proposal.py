"""Edit a proposal: other arguments under the same key, judged anew, asked as the next version with a digest of its own.

One transaction: either the old question is closed and the new one stands, or nothing has changed. Lock order: run, step,
action, intent.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.again import again
from accounts.canonical import BadInput, canonical, check_storable
from accounts.failpoints import fp
from accounts.models import User
from approvals import edit
from approvals.answers import LONGEST_COMMENT
from approvals.decide import Sight
from approvals.errors import BadAnswer, Stale
from approvals.models import PendingAction
from runs.engine.ask_approval import ask_about
from runs.engine.ending import lock_step
from runs.engine.record import settle_down
from runs.engine.workspace import Locked, locked_one
from runs.models import Step
from tools import gate, intents, previews
from tools.models import Contract, Intent
from tools.selectors import by_id

REASON = "comment"


@again
def edit_proposal(
    *,
    action_id: uuid.UUID,
    user_id: uuid.UUID,
    arguments: Mapping[str, Any],
    why: str,
    digest: str,
    generation: int,
    channel: str,
) -> PendingAction:
    """The next version of a question, with ``arguments`` in place of those that were proposed. Owns its transaction.

    ``why`` is for whoever approves it then. ``digest`` and ``generation`` are those of the version that was read. Who edits
    counts as an author of the arguments from then on. Raises :class:`approvals.errors.BadAnswer` with the argument in
    question (empty: the call as a whole) when the tool does not take them or a rule forbids them, and what
    :func:`approvals.edit.check` raises; each changes nothing.
    """
    given = _readable(arguments)
    if len(why) > LONGEST_COMMENT:
        raise BadAnswer(REASON, _("That is longer than can be kept. Nothing has changed."))
    seen = PendingAction.everywhere.get(pk=action_id)
    with transaction.atomic(durable=True):
        workspace, run = locked_one(seen.run_id)
        step = lock_step(seen.step_id) if seen.step_id else None
        action = PendingAction.everywhere.select_for_update(of=("self",)).get(pk=action_id)
        edit.check(action, user_id=user_id, sight=Sight(digest, generation))
        intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=action.intent_id)
        if run is None or step is None or not _waits(run, step, intent):
            raise Stale(_("The task no longer waits for this. Nothing has changed."))
        contract = by_id(intent.contract_id)
        word = _judged(run, intent, contract, given)
        user = User.objects.get(pk=user_id)
        edit.close(action, user=user, channel=channel)
        asked = _amend(run, step, intent, contract, given, word, action, user, why.strip())
        settle_down(workspace)
        fp("edited.before_commit")
    fp("edited.committed")
    return asked


def _readable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(arguments)
    try:
        check_storable(given)
        canonical(given)
    except BadInput as bad:
        raise BadAnswer("", _("These arguments cannot be used: %s") % bad.text) from bad
    return given


def _waits(run: Locked, step: Step, intent: Intent) -> bool:
    if intent.compensates_id is not None:
        raise Stale(_("How an effect is undone follows from the effect itself, so it cannot be edited."))
    return run.plannable and step.status == Step.Status.WAITING_APPROVAL and intent.dispatches == 0


def _judged(run: Locked, intent: Intent, contract: Contract, given: dict[str, Any]) -> gate.Verdict:
    """The gate's word on the new arguments. Switches hold up a call, not its question."""
    if canonical(given) == canonical(intent.arguments):
        raise BadAnswer("", _("This is what was proposed already. Nothing has changed."))
    word = run.reading.verdict(
        tenant_id=run.tenant_id,
        contract=contract,
        arguments=given,
        run_id=run.id,
        key=intent.key,
        switches=False,
    )
    if word.path == "blocked":
        first = word.reasons[0]
        where = str((first.params or {}).get("where", "")) if first.code == gate.MISFIT else ""
        raise BadAnswer(_argument(where), " ".join(str(reason) for reason in word.reasons))
    return word


def _argument(path: str) -> str:
    """The argument that a JSON path (``$.to``, ``$.lines[0].amount``) is about; empty for the call as a whole."""
    return path.removeprefix("$").removeprefix(".").partition(".")[0].partition("[")[0]


def _amend(
    run: Locked,
    step: Step,
    intent: Intent,
    contract: Contract,
    given: dict[str, Any],
    word: gate.Verdict,
    action: PendingAction,
    user: User,
    why: str,
) -> PendingAction:
    """The intent and its step hold the new arguments, and the new question stands."""
    changed = intents.amend(
        intent=intent,
        contract=contract,
        arguments=given,
        target=previews.target_for(contract=contract, arguments=given, proposed=intent.target),
        evidence={"what": "edited", "by": user.pk.hex, "action": action.pk.hex, "was": intent.request_digest},
    )
    intents.judged(intent_id=changed.pk, verdict=word.as_json())
    Step.everywhere.filter(pk=step.pk).update(input={**step.input, "arguments": given, "edited": True})
    run.event(
        "approval.edited",
        step_id=step.pk,
        actor=f"user:{user.pk.hex}",
        payload={"key": step.key, "action": action.pk.hex, "why": why[:500]},
    )
    asked = ask_about(
        run,
        step,
        changed,
        contract,
        word.asked(),
        why=action.rationale,
        evidence=action.evidence,
        edited={"by": user.pk.hex, "name": str(user), "why": why},
    )
    Step.everywhere.filter(pk=step.pk).update(waiting_on=asked.sentence[:200])
    return asked
