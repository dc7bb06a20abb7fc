"""The sentences that the desk keeps in its rows. Pages say them in the reader's language (`accounts.said`)."""

from django.utils.translation import gettext_noop as _

from accounts.said import Sentence

TAKEN_BACK = Sentence(_("%(name)s took the approval back before it was sent."))
TAKEN_BACK_WHY = Sentence(_("%(name)s took the approval back before it was sent: %(why)s"))
