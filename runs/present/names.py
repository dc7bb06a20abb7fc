"""What steps are called, in the language of the page. An agent gives a step its object (a file, an
address); the verb belongs to the tool."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.said import read
from runs.models import Step
from runs.states import QUERY, REMAKE

_VERBS = {
    "contracts.review": gettext_noop("Review %(what)s"),
    "contracts.join": gettext_noop("Write the report"),
    "mail.send": gettext_noop("Send an e-mail to %(what)s"),
}
_CONDITIONS = {"deadline_found": gettext_noop("Only if a deadline is found.")}


def step_name(step: Step) -> str:
    """The name of a step: verb and object."""
    if step.key.startswith(REMAKE):
        return _("Make again: %(step)s") % {"step": call_name(step.tool, step.title)}
    if step.key.startswith(QUERY):
        return _("Ask whether it happened: %(step)s") % {"step": read(step.title) or step.tool}
    return call_name(step.tool, read(step.title)) if step.title or step.tool in _VERBS else step.key


def call_name(tool: str, what: str) -> str:
    """The name of a call of ``tool`` on ``what``; "" when neither says anything."""
    verb = _VERBS.get(tool)
    if verb is None:
        return what or tool
    if what and "%(what)s" not in verb:
        # The agent says itself what this call of it is for.
        return _(what)
    return _(verb) % {"what": what or _("something")}


def condition(code: str) -> str:
    """When an expected step comes to pass; a code without words is shown as it is."""
    words = _CONDITIONS.get(code)
    return _(words) if words else code
