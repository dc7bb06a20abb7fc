"""Who may answer, read at the moment of the act. One place for pages, API, decide and begin.

A rule names a role and, if it likes, a group: whoever decides holds the role and is in the group. Four eyes come before
every right: no role, group, delegation, absence or escalation lets a person approve what they submitted or edited.
``approvals.inbox`` says the same in SQL; a test holds the two together. Decision 0030 tells why.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.translation import gettext_noop as _

from accounts.models import Role, User
from approvals import staff
from approvals.models import Decision, PendingAction, Verdict
from approvals.staff import Staff, group_of, role_of
from tools.reasons import Reason

#: Who settles and who takes over when no contract says otherwise.
SETTLE_POLICY = {"role": Role.APPROVER.value, "quorum": 1, "not_submitter": True}
TAKE_OVER_POLICY = {"role": Role.APPROVER.value, "quorum": 1, "not_submitter": False}

ROLE_TEXTS = {
    Role.APPROVER.value: _("Only approvers may decide this, and you are not one."),
    Role.ADMINISTRATOR.value: _("Only administrators may decide this, and you are not one."),
    Role.SUBMITTER.value: _("Only submitters may decide this, and you are not one."),
}
#: The rights that an answer can rest on, as kept with the decision.
ROLE: Final = "role"
GROUP: Final = "group"
DELEGATED: Final = "delegated"
STAND_IN: Final = "stand_in"
ESCALATION: Final = "escalation"
SUBMITTER: Final = "submitter"


@dataclass(frozen=True, slots=True)
class Authority:
    """The right that an answer rests on; ``stands_for`` is who is away and named the person."""

    code: str
    stands_for: User | None = None


@dataclass(frozen=True, slots=True)
class Deciders:
    """Who may give the main answer now and has not given any, in the order of names: those who are here, and those who are
    away, who may decide all the same. ``until`` says when each of the latter is back. ``owners`` may decide for the only
    reason that nobody else can and it went to them; they are in neither of the lists."""

    present: tuple[User, ...]
    away: tuple[User, ...]
    until: Mapping[uuid.UUID, datetime]
    owners: tuple[User, ...] = ()

    @property
    def everybody(self) -> tuple[User, ...]:
        """All of them, those who are here first."""
        return (*self.present, *self.away, *self.owners)


def refusals(*, action: PendingAction, user_id: uuid.UUID, verdict: str) -> list[Reason]:
    """Why this person may not give this verdict; empty when the answer may be taken.

    Four-eyes: whoever submitted the task never approves or settles it, and whoever changed the arguments never approves
    them unless the rule says so, whatever rights they hold and through whatever channel; they may always say no to it.
    """
    return _judge(action, staff.read(action, [user_id]), user_id, verdict)


def authority(*, action: PendingAction, user_id: uuid.UUID) -> Authority:
    """With which right this person answers; of meaning only where :func:`refusals` is empty."""
    return _authority(action, staff.read(action, [user_id]), user_id)


def deciders(action: PendingAction, *, whoever_has_it: bool = False) -> Deciders:
    """Everybody who may give the main answer now, in at most four queries however many people there are. With
    ``whoever_has_it``, as if it had been handed to nobody: those to whom it can be handed."""
    facts = staff.read(action)
    answered = set(Decision.everywhere.filter(action=action).values_list("user_id", flat=True))
    verdict = main_verdict(action)
    open_to = [
        member.user
        for user_id, member in facts.members.items()
        if user_id not in answered and not _judge(action, facts, user_id, verdict, bound=not whoever_has_it)
    ]
    last = [user for user in open_to if _authority(action, facts, user.pk).code == ESCALATION]
    found = [user for user in open_to if user not in last]
    until = {user.pk: at for user in found if (at := facts.until(user.pk))}
    return Deciders(
        present=tuple(user for user in found if user.pk not in until),
        away=tuple(user for user in found if user.pk in until),
        until=until,
        owners=tuple(last),
    )


def unfit(*, action: PendingAction, user_id: uuid.UUID) -> list[Reason]:
    """Why a question cannot be handed to this person: what four eyes, role and group say, whoever has it now."""
    facts, verdict = staff.read(action, [user_id]), main_verdict(action)
    if user_id not in facts.members:
        return [Reason("not_a_member", _("You are not an active member here."))]
    return _four_eyes(action, user_id, verdict) or _lacks(action, facts, user_id)


def person(user_id: uuid.UUID) -> User:
    """The person behind an id."""
    return User.objects.get(pk=user_id)


def main_verdict(action: PendingAction) -> Verdict:
    """The answer that a question is about: approving, else the first that it takes."""
    if action.kind == PendingAction.Kind.APPROVE:
        return Verdict.APPROVE
    return Verdict(action.verdicts[0])


def bound_to(action: PendingAction, facts: Staff) -> uuid.UUID | None:
    """The one person whom handing over binds the question to. Nobody, once that person may not decide it any more: it is
    for the role's others again (fault B60)."""
    one = action.assignee_id
    if one is None or one not in facts.members or _four_eyes(action, one, main_verdict(action)):
        return None
    return None if _lacks(action, facts, one) else one


def _judge(
    action: PendingAction, facts: Staff, user_id: uuid.UUID, verdict: str, *, bound: bool = True
) -> list[Reason]:
    if user_id not in facts.members:
        return [Reason("not_a_member", _("You are not an active member here."))]
    if user_id == action.submitter_id and _submitter_may(action, verdict):
        return []
    if reasons := _four_eyes(action, user_id, verdict):
        return reasons
    if _has_escalated_to(action, facts, user_id):
        return []
    holder = bound_to(action, facts) if bound else None
    if holder and user_id != holder and not facts.stands_in(user_id, absent=holder):
        name = str(facts.members[holder].user)
        return [
            Reason(
                "assigned", _("This was handed to %(name)s, so it is not yours to decide."), {"name": name}
            )
        ]
    return _lacks(action, facts, user_id)


def _submitter_may(action: PendingAction, verdict: str) -> bool:
    """Say no, look after one's own task, and answer a question to submitters."""
    if verdict == Verdict.REJECT or action.kind == PendingAction.Kind.TAKE_OVER:
        return True
    return action.kind == PendingAction.Kind.ANSWER and action.policy.get("not_submitter") is False


def _four_eyes(action: PendingAction, user_id: uuid.UUID, verdict: str) -> list[Reason]:
    if user_id == action.submitter_id and not _submitter_may(action, verdict):
        return [Reason("four_eyes", _("You submitted this task, so somebody else has to decide."))]
    edited = user_id in action.editors and verdict == Verdict.APPROVE
    if edited and action.policy.get("editor_may_approve") is not True:
        return [Reason("editor", _("You changed what would be sent, so somebody else has to approve it."))]
    return []


def _has_escalated_to(action: PendingAction, facts: Staff, user_id: uuid.UUID) -> bool:
    """Nobody else can decide it, and it went to this person."""
    stuck = action.escalated_at is not None and action.undecidable_since is not None
    return stuck and user_id in facts.owners


def _lacks(action: PendingAction, facts: Staff, user_id: uuid.UUID) -> list[Reason]:
    """What this person, an active member, lacks of role and group."""
    role, group = role_of(action), group_of(action)
    if role not in facts.members[user_id].roles:
        text = ROLE_TEXTS.get(role, _("The rules name a role that nobody here has: %(role)s."))
        return [Reason("role", text, {"role": role})]
    if group and facts.group is None:
        text = _(
            "The rules name the group %(group)s, which does not exist or was closed, so nobody may decide this."
        )
        return [Reason("no_group", text, {"group": group})]
    if group and user_id not in (facts.group or ()):
        text = _("Only people in the group %(group)s may decide this, and you are not in it.")
        return [Reason("group", text, {"group": group})]
    return []


def _authority(action: PendingAction, facts: Staff, user_id: uuid.UUID) -> Authority:
    if user_id == action.submitter_id:
        return Authority(SUBMITTER)
    holder = bound_to(action, facts)
    if user_id == holder:
        return Authority(DELEGATED)
    own = user_id in facts.members and not _lacks(action, facts, user_id)
    if own and holder and facts.stands_in(user_id, absent=holder):
        return Authority(STAND_IN, facts.members[holder].user)
    if _has_escalated_to(action, facts, user_id) and (holder or not own):
        return Authority(ESCALATION)
    return Authority(GROUP if group_of(action) else ROLE)


def quorum(action: PendingAction) -> int:
    """How many different people must agree; never less than one."""
    try:
        return max(1, int(action.policy.get("quorum") or 1))
    except (TypeError, ValueError):
        return 2**31  # an unreadable rule denies


def given(action: PendingAction) -> list[Decision]:
    """Every answer to an action, oldest first, with the people."""
    rows = Decision.everywhere.filter(action=action).select_related("user", "stands_for")
    return list(rows.order_by("at", "pk"))


def signatures(action: PendingAction, verdict: str = Verdict.APPROVE) -> list[Decision]:
    """The decisions with this verdict, oldest first."""
    return [decision for decision in given(action) if decision.verdict == verdict and decision.user_id]


def entitled_signers(action: PendingAction, decisions: Iterable[Decision]) -> set[uuid.UUID]:
    """The people behind these approvals whose signature still counts, each once: active members who still hold role and
    group, and four eyes. Whom the question was handed to, and who was away, are matters of the moment of signing: a
    signature keeps them. One given by escalation counts while the person is still the one it escalates to.
    """
    signed = {decision.user_id: decision for decision in decisions if decision.user_id}
    facts = staff.read(action, signed)
    return {
        user_id
        for user_id, decision in signed.items()
        if _still_counts(action, facts, user_id, decision.authority)
    }


def _still_counts(action: PendingAction, facts: Staff, user_id: uuid.UUID, right: str) -> bool:
    if user_id not in facts.members or _four_eyes(action, user_id, Verdict.APPROVE):
        return False
    if right == ESCALATION and user_id in facts.owners:
        return True
    return not _lacks(action, facts, user_id)


def submitter_facts(user: User) -> dict[str, str]:
    """The submitter as shown."""
    return {"id": user.pk.hex, "name": str(user)}
