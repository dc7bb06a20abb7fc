"""The sentences that the desk keeps in its rows. Pages say them in the reader's language (`accounts.said`)."""

from django.utils.translation import gettext_noop as _

from accounts.said import Sentence

TAKEN_BACK = Sentence(_("%(name)s took the approval back before it was sent."))
EDITED = Sentence(_("%(name)s changed what would be sent; a new version is asked."))
EDITED_SIGNED = Sentence(
    _(
        "%(name)s changed what would be sent; a new version is asked, "
        "and the signatures on this one count no more: %(signed)s."
    )
)
TAKEN_BACK_WHY = Sentence(_("%(name)s took the approval back before it was sent: %(why)s"))
