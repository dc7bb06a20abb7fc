"""The sentences about effects that are kept in rows. Pages say them in the reader's language (`accounts.said`)."""

from django.utils.translation import gettext_noop as _

from accounts.said import Sentence
from tools.adapters import smtp

SEND = Sentence(smtp.SENTENCE)
DRIFTED = Sentence(_("The server says something else of it than what was confirmed: %(parts)s."))
GONE = Sentence(_("The server does not offer it any more."))
CALL = Sentence(_("Call %(tool)s"))

#: A quota that is full, by the length of its window in seconds: for one call, and for several.
QUOTA = {
    3600: (
        Sentence(_("At most 1 call an hour: goes on at %(time)s UTC")),
        Sentence(_("At most %(most)s calls an hour: goes on at %(time)s UTC")),
    ),
    60: (
        Sentence(_("At most 1 call a minute: goes on at %(time)s UTC")),
        Sentence(_("At most %(most)s calls a minute: goes on at %(time)s UTC")),
    ),
}
