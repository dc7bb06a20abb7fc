"""Fills the post room's table: which consumers a topic reaches. Bells come from ``config.wiring``, which the settings
read and which therefore imports nothing; hints for open pages, notes to people and webhooks are added here."""

from typing import Final

from config.wiring import ROUTES
from outbox import kinds, letters, notify
from outbox.consumers import bells, hints, post
from outbox.notify import dead
from outbox.routes import CHAT, MAIL, Consumer, declare
from outbox.webhooks import events, notice, spread, way
from outbox.webhooks.record import DISABLED

TOLD: Final[dict[str, tuple[Consumer, ...]]] = {
    "run.submitted": (hints.RUNS,),
    "run.progress": (hints.RUNS,),
    "run.waiting": (hints.RUNS, notify.NOTES),
    "run.finished": (hints.RUNS, notify.NOTES),
    "step.ready": (),
    "action.opened": (hints.RUNS, hints.INBOXES, notify.NOTES),
    "action.closed": (hints.RUNS, hints.INBOXES, notify.NOTES),
    "action.signed": (hints.RUNS, hints.INBOXES, notify.NOTES),
    "action.delegated": (hints.RUNS, hints.INBOXES, notify.NOTES),
    "action.handled": (hints.RUNS, hints.INBOXES),
    "action.reminder": (hints.RUNS, notify.NOTES),
    "action.escalated": (hints.RUNS, notify.NOTES),
    "action.decidable": (hints.RUNS,),
    "action.undecidable": (hints.RUNS, notify.NOTES),
    "decision.recorded": (),
    "alert.raised": (hints.RUNS,),
    "sample.answered": (),
    "contract.review": (notify.NOTES,),
    "artifact.damaged": (hints.RUNS,),
    DISABLED: (notify.NOTES,),
    dead.TOPIC: (notify.NOTES,),
}
#: Topic → kinds of notes about the same thing that are over with it.
ENDS: Final = {
    "action.closed": (
        *(kinds.WAITS, kinds.UNKNOWN, kinds.REMINDER, kinds.ESCALATED, kinds.DELEGATED),
        kinds.UNDECIDABLE,
    ),
    # The newest note about what still waits is the one to read.
    "action.signed": (kinds.WAITS,),
    "action.delegated": (kinds.WAITS, kinds.REMINDER, kinds.DELEGATED),
    "action.reminder": (kinds.REMINDER,),
    "run.finished": (kinds.TASK_WAITS,),
}


def wire() -> None:
    """Fill the table; called once, when Django is ready."""
    from config import webhook_events
    from config.celery import app
    from config.webhook_way import Out

    webhook_events.wire()
    way.use(Out())
    for topic in {*TOLD, *ROUTES}:
        rings = [bells.bell(task, app.send_task) for task in ROUTES.get(topic, ())]
        hooks = [spread.HOOKS] if topic in events.topics() else []
        declare(topic, [*rings, *TOLD.get(topic, ()), *hooks])
    declare(notify.MAIL_TOPIC, [notify.MAILS], lane=MAIL)
    declare(notify.DIGEST_TOPIC, [notify.DIGESTS], lane=MAIL)
    declare(notify.CHAT_TOPIC, [notify.CHATS], lane=CHAT)
    for kind in letters.KINDS:
        declare(f"letter.{kind}", [post.LETTERS], lane=MAIL)
    for topic, writer in _writers().items():
        notify.register(topic, writer, ends=ENDS.get(topic, ()))


def _writers() -> dict[str, notify.Writer]:
    """Who writes the notes of which topic."""
    from approvals.notes import chased, delegated, lapsed, opened, signed
    from runs.notes import ended, waits
    from tools import notes as reviews

    return {
        "action.opened": opened,
        "action.closed": lapsed,
        "action.signed": signed,
        "action.delegated": delegated,
        "action.reminder": chased.REMINDER_NOTE,
        "action.escalated": chased.ESCALATED_NOTE,
        "action.undecidable": chased.UNDECIDABLE_NOTE,
        "run.waiting": waits,
        "run.finished": ended,
        "contract.review": reviews,
        DISABLED: notice,
        dead.TOPIC: dead,
    }
