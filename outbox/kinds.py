"""What notes are about, and when each goes out for who chose nothing. The one list: pages, API and checks read it."""

from dataclasses import dataclass, field
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from outbox.models import Channel, Timing

#: What may be chosen for a channel.
TIMINGS: Final = {
    Channel.MAIL: (Timing.AT_ONCE, Timing.DIGEST, Timing.OFF),
    Channel.PAGE: (Timing.AT_ONCE, Timing.OFF),
    Channel.CHAT: (Timing.AT_ONCE, Timing.OFF),
    Channel.BROWSER: (Timing.AT_ONCE, Timing.OFF),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """``words`` say when such a note comes, in the mouth of its reader, and ``of_all`` without one. ``stays``: channels that
    nobody switches off. ``administrators``: nobody else ever gets one."""

    name: str
    words: "str | Promise"
    of_all: "str | Promise"
    mail: Timing = Timing.AT_ONCE
    page: Timing = Timing.AT_ONCE
    chat: Timing = Timing.AT_ONCE
    browser: Timing = Timing.OFF
    stays: frozenset[Channel] = field(default_factory=frozenset)
    administrators: bool = False

    def usual(self, channel: Channel) -> Timing:
        """When it goes out for who chose nothing."""
        return {
            Channel.MAIL: self.mail,
            Channel.PAGE: self.page,
            Channel.CHAT: self.chat,
            Channel.BROWSER: self.browser,
        }[channel]

    def choices(self, channel: Channel) -> tuple[Timing, ...]:
        """What may be chosen."""
        every = TIMINGS[channel]
        return tuple(one for one in every if one != Timing.OFF) if channel in self.stays else every


_IN_PAGE: Final = frozenset({Channel.PAGE})
WAITS, UNKNOWN, REMINDER = "waits_for_me", "outcome_unknown", "reminder"
ESCALATED, DELEGATED, LAPSED = "escalated_to_me", "delegated_to_me", "lapsed"
TASK_WAITS, TASK_ENDED, TASK_FAILED = "task_waits", "task_ended", "task_failed"
REVIEW, UNDECIDABLE, TROUBLE = "contract_review", "undecidable", "trouble"
#: Of the test button alone; nobody chooses it.
TEST: Final = "test"

KINDS: Final = {
    one.name: one
    for one in (
        Kind(WAITS, _("Something waits for my decision."), _("Something waits for a decision.")),
        Kind(
            UNKNOWN,
            _("Nobody can tell whether something happened, and I may find out."),
            _("Nobody can tell whether something happened, and somebody has to find out."),
        ),
        Kind(REMINDER, _("What waits for me has waited for long."), _("Something has waited for long.")),
        Kind(ESCALATED, _("Something was escalated to me."), _("Something was escalated."), stays=_IN_PAGE),
        Kind(
            DELEGATED,
            _("Something was handed to me, or to somebody I stand in for."),
            _("Something was handed to somebody."),
            stays=_IN_PAGE,
        ),
        Kind(
            LAPSED,
            _("What I signed does not hold any more, or what I asked for was not decided in time."),
            _("What was signed does not hold any more, or something was not decided in time."),
        ),
        Kind(
            TASK_WAITS,
            _("A task of mine waits for somebody else."),
            _("A task waits for somebody."),
            mail=Timing.OFF,
            chat=Timing.OFF,
        ),
        Kind(TASK_ENDED, _("A task of mine has ended."), _("A task has ended.")),
        Kind(TASK_FAILED, _("A task of mine has failed."), _("A task has failed.")),
        Kind(
            REVIEW,
            _("A contract of a tool waits for me, or was sent back to me."),
            _("A contract of a tool waits for an administrator, or was sent back."),
            administrators=True,
        ),
        Kind(
            UNDECIDABLE,
            _("Nobody can decide what waits."),
            _("Nobody can decide what waits."),
            stays=_IN_PAGE,
            administrators=True,
        ),
        Kind(
            TROUBLE,
            _("Something could not be told: a dead letter, or a webhook that was switched off."),
            _("Something could not be told: a dead letter, or a webhook that was switched off."),
            administrators=True,
        ),
    )
}
