"""Fills the post room's table: which consumers a topic reaches. Bells come from ``config.wiring``, which the settings
read and which therefore imports nothing; hints for open pages, notes to people and webhooks are added here."""

from typing import Final

from config.wiring import ROUTES
from outbox import letters, notify
from outbox.consumers import bells, hints, post
from outbox.routes import MAIL, Consumer, declare
from outbox.webhooks import events, notice, spread, way
from outbox.webhooks.record import DISABLED

TOLD: Final[dict[str, tuple[Consumer, ...]]] = {
    "run.submitted": (hints.RUNS,),
    "run.progress": (hints.RUNS,),
    "run.waiting": (hints.RUNS,),
    "run.finished": (hints.RUNS, notify.NOTES),
    "step.ready": (),
    "action.opened": (hints.RUNS, notify.NOTES),
    "action.closed": (hints.RUNS,),
    "decision.recorded": (),
    "alert.raised": (hints.RUNS,),
    "contract.review": (notify.NOTES,),
    "artifact.damaged": (hints.RUNS,),
    DISABLED: (notify.NOTES,),
}


def wire() -> None:
    """Fill the table; called once, when Django is ready."""
    from approvals import notes as action_notes
    from config import webhook_events
    from config.celery import app
    from config.webhook_way import Out
    from runs import notes as run_notes
    from tools import notes as tool_notes

    webhook_events.wire()
    way.use(Out())
    for topic in {*TOLD, *ROUTES}:
        rings = [bells.bell(task, app.send_task) for task in ROUTES.get(topic, ())]
        hooks = [spread.HOOKS] if topic in events.topics() else []
        declare(topic, [*rings, *TOLD.get(topic, ()), *hooks])
    declare(notify.MAIL_TOPIC, [notify.MAILS], lane=MAIL)
    for kind in letters.KINDS:
        declare(f"letter.{kind}", [post.LETTERS], lane=MAIL)
    notify.register("action.opened", action_notes)
    notify.register("run.finished", run_notes)
    notify.register("contract.review", tool_notes)
    notify.register(DISABLED, notice)
