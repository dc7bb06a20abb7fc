"""The sentences that runs keep in their rows and events. Pages say them in the reader's language (`accounts.said`)."""

from django.utils.translation import gettext_noop as _

from accounts.said import Sentence

# Why a person has to take over.
NO_PLAN = Sentence(_("The agent could not plan the next step."))
BAD_PLAN = Sentence(_("The agent gave a plan that cannot be carried out."))
NO_NEXT_STEP = Sentence(_("The agent gave no next step, and nothing is under way."))
UNKNOWN_TOOL = Sentence(_("The agent asked for a tool that this task may not use: %(tool)s"))
END_WHILE_LIVE = Sentence(_("The agent wants to end the task while steps are still under way."))
BAD_QUESTION = Sentence(_("The agent asked a question without words or for a role that does not exist."))
BAD_QUESTION_FORM = Sentence(_("The agent asked a question whose form cannot be made."))
GAVE_UP = Sentence(_("A step could not be done: %(what)s"))
DEADLINE = Sentence(_("The deadline of the task has passed."))
SILENT = Sentence(_("Nothing has happened for more than %(seconds)s seconds."))
LOOP = Sentence(_("It asked %(tool)s for the same thing %(times)s times and got the same answer."))
DAMAGED = Sentence(_("The file %(name)s is damaged or gone, and nothing can make it again."))
NOT_REMADE = Sentence(_("The file %(name)s is damaged or gone, and making it again gave no equal one."))
STUCK = Sentence(_("Nothing of the task is under way, and what is left can neither start nor be answered."))
SPENT = {
    "steps": Sentence(_("The task has used up its budget of steps: %(used)s of %(limit)s.")),
    "tool_calls": Sentence(_("The task has used up its budget of tool calls: %(used)s of %(limit)s.")),
    "model_calls": Sentence(_("The task has used up its budget of model calls: %(used)s of %(limit)s.")),
    "tokens": Sentence(_("The task has used up its budget of tokens: %(used)s of %(limit)s.")),
    "cost": Sentence(_("The task has used up its budget of money: %(used)s of %(limit)s.")),
    "wall_seconds": Sentence(_("The task has used up its working time: %(used)s of %(limit)s seconds.")),
}
NEEDS_MORE = Sentence(
    _(
        "The task needs more %(name)s than it may use: "
        "%(used)s used, %(reserved)s kept for planned steps, %(limit)s allowed."
    )
)
BUDGETS = {
    "steps": Sentence(_("steps")),
    "tool_calls": Sentence(_("tool calls")),
    "model_calls": Sentence(_("model calls")),
    "tokens": Sentence(_("tokens")),
    "cost": Sentence(_("money")),
    "wall_seconds": Sentence(_("seconds of working time")),
}

# What the person may do about it.
ENTRY = Sentence(_("The agent is asked what comes next, from the last checkpoint; steps that wait go on."))
ENTRY_ASK = Sentence(
    _("From here: the agent is told of the failure and says what comes next. %(step)s is not tried again.")
)
ENTRY_AFTER = Sentence(
    _(
        "After it: %(step)s is left out, and the task goes on with what comes next. What needs its result goes without."
    )
)
ADD_MORE = Sentence(_("See what it has done so far, then add as much as it still needs, or end the task."))
SUGGESTIONS = {
    "deadline": Sentence(_("Give it more time if the result is still wanted, or end the task.")),
    "loop": Sentence(_("It repeats itself. Continue only if the answer can be another one now.")),
    "silent": Sentence(_("Ask whoever runs the workers whether they were away, then continue.")),
    "orphan": Sentence(_("Continue once. If it comes back, end the task and report it.")),
    "artifact_damaged": Sentence(
        _("Put the file back (uploading the same file is enough), then continue; or end the task.")
    ),
    "gave_up": Sentence(_("Continue to let the agent try another way, or end the task.")),
}
CONTINUE = Sentence(_("Continue once the cause is gone; the same cause stops it again."))
ENDED_BY_PERSON = Sentence(_("A person ended the task."))

# What an orphan needed.
WAS_CANCELLED = Sentence(_("It was being cancelled and nothing of it was under way: what was left is ended."))
NOT_RELEASED = Sentence(_("Steps whose dependencies were met had not been released."))
ASKED_AGAIN = Sentence(_("Nothing of it was under way: the agent is asked again."))
NOW_ASKED = Sentence(_("Nobody was asked what became of an effect: now somebody is."))

# What a task or a step waits for.
ASKING = Sentence(_("The other side is asked whether it happened."))
NO_CODE = Sentence(_("the agent %(agent)s %(version)s: no worker has the code that this task started with"))
SIGNAL = Sentence(_("the signal %(name)s"))
TIME = Sentence(_("the time that was set"))
IN_LINE = Sentence(_("Waits for %(resource)s: “%(what)s” is under way there (%(task)s)"))
BEHIND_UNKNOWN = Sentence(_("Waits for %(resource)s: the outcome of “%(what)s” is unknown (%(task)s)"))
WITHHELD = Sentence(
    _(
        "Its worker fell silent (%(node)s on %(host)s). Another one takes over when that one is known to be gone."
    )
)
RESOURCE_FREE = Sentence(_("its resource is free"))
QUOTA_FREE = Sentence(_("its tool may be called again"))

# How a step ended.
NOT_ANSWERED = Sentence(_("Nobody answered in time."))
NOT_DECIDED = Sentence(_("Nobody decided in time, so it was not done."))
NO_SIGNAL = Sentence(_("The signal %(name)s did not come in time."))
WORKER_DIED = Sentence(_("Its worker died %(times)s times."))
NOBODY_KNOWS = Sentence(_("Nobody can know whether it happened."))
NOT_HAPPENED = Sentence(_("It did not happen, and the task was cancelled."))
NOT_HAPPENED_OFTEN = Sentence(_("It did not happen, and it was tried as often as its contract allows."))
NOT_AUTHORISED = Sentence(_("It is not authorised (%(status)s)."))

# What is asked about an effect, and why it is asked again.
DID_IT_HAPPEN = Sentence(_("Did this happen? %(what)s"))
BEFORE_RESTORE = Sentence(_("Did this happen before the database was restored? %(what)s"))
RESTORED = Sentence(_("the database was restored"))
OTHER_ARGUMENTS = Sentence(_("What would have been sent is not what was judged."))
TAKE_OVER_FIRST = Sentence(_("A person has to take the task over first."))
INPUT_CHANGED = Sentence(_("One of its inputs was made again."))
CANCELLED = Sentence(_("the task was cancelled"))
ENDED = Sentence(_("the task was ended"))
BECAME_KNOWN = Sentence(_("the outcome became known"))
NOT_MET = Sentence(_("what it waits for did not succeed"))

# How effects are undone.
UNDO = Sentence(_("Undo: %(what)s"))
UNDO_WHY = Sentence(_("The task stops before its end: this takes back what it did."))
UNDO_FAILED = Sentence(_("This could not be done: %(what)s"))
UNDO_ADVICE = Sentence(_("See to the cause and continue, or undo it by hand and end this here."))
UNDO_ENTRY = Sentence(
    _("Continue: it is tried again, then what came before it is undone. End: it stays as it is.")
)
UNDO_MISSING = Sentence(_("The tool that undoes it is not in force: %(tool)s"))
UNDO_UNMADE = Sentence(
    _("What the undo needs is not known of the effect: %(pointer)s, for the argument %(name)s.")
)
NOBODY_ASKED = Sentence(_("Nobody was asked about it."))
UNDOING_GOES_ON = Sentence(_("Its effects were being undone and nothing was under way: it goes on."))
