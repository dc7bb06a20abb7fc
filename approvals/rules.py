"""Who may answer, read at the moment of the act. One place for pages, API, decide and begin."""

import uuid
from collections.abc import Iterable

from django.utils.translation import gettext_noop as _

from accounts import rights
from accounts.models import Role, User
from approvals.models import Decision, PendingAction, Verdict
from tools.reasons import Reason

#: Who settles and who takes over when no contract says otherwise.
SETTLE_POLICY = {"role": Role.APPROVER.value, "quorum": 1, "not_submitter": True}
TAKE_OVER_POLICY = {"role": Role.APPROVER.value, "quorum": 1, "not_submitter": False}

ROLE_TEXTS = {
    Role.APPROVER.value: _("Only approvers may decide this, and you are not one."),
    Role.ADMINISTRATOR.value: _("Only administrators may decide this, and you are not one."),
    Role.SUBMITTER.value: _("Only submitters may decide this, and you are not one."),
}


def refusals(*, action: PendingAction, user_id: uuid.UUID, verdict: str) -> list[Reason]:
    """Why this person may not give this verdict; empty when the answer may be taken.

    Four-eyes: whoever submitted the task never approves or settles it, whatever roles they hold and through
    whatever channel; they may always say no to it.
    """
    if rights.membership(user_id=user_id, tenant_id=action.tenant_id) is None:
        return [Reason("not_a_member", _("You are not an active member here."))]
    is_submitter = user_id == action.submitter_id
    if is_submitter:
        if verdict == Verdict.REJECT or action.kind == PendingAction.Kind.TAKE_OVER or _own_question(action):
            return []
        return [Reason("four_eyes", _("You submitted this task, so somebody else has to decide."))]
    if action.assignee_id and action.assignee_id != user_id:
        return [Reason("assigned", _("This was handed to one person, who is not you."))]
    return _lacks_role(action, user_id)


def _own_question(action: PendingAction) -> bool:
    """A question to submitters: whoever submitted the task knows best."""
    return action.kind == PendingAction.Kind.ANSWER and action.policy.get("not_submitter") is False


def _lacks_role(action: PendingAction, user_id: uuid.UUID) -> list[Reason]:
    role = str(action.policy.get("role") or Role.APPROVER.value)
    if rights.has_role(user_id=user_id, tenant_id=action.tenant_id, role=role):
        return []
    return [
        Reason(
            "role",
            ROLE_TEXTS.get(role, _("The rules name a role that nobody here has: %(role)s.")),
            {"role": role},
        )
    ]


def quorum(action: PendingAction) -> int:
    """How many different people must agree; never less than one."""
    try:
        return max(1, int(action.policy.get("quorum") or 1))
    except (TypeError, ValueError):
        return 2**31  # an unreadable rule denies


def given(action: PendingAction) -> list[Decision]:
    """Every answer to an action, oldest first, with the people."""
    return list(Decision.everywhere.filter(action=action).select_related("user").order_by("at", "pk"))


def signatures(action: PendingAction, verdict: str = Verdict.APPROVE) -> list[Decision]:
    """The decisions with this verdict, oldest first."""
    return [decision for decision in given(action) if decision.verdict == verdict and decision.user_id]


def entitled_signers(action: PendingAction, decisions: Iterable[Decision]) -> set[uuid.UUID]:
    """The people behind these approvals who may still approve now, each counted once."""
    signers = {decision.user_id for decision in decisions if decision.user_id}
    return {user for user in signers if not refusals(action=action, user_id=user, verdict=Verdict.APPROVE)}


def submitter_facts(user: User) -> dict[str, str]:
    """The submitter as shown."""
    return {"id": user.pk.hex, "name": str(user)}
