"""The sentences about effects that are kept in rows. Pages say them in the reader's language (`accounts.said`)."""

from django.utils.translation import gettext_noop as _

from accounts.said import Sentence
from tools.adapters import smtp

SEND = Sentence(smtp.SENTENCE)
DRIFTED = Sentence(_("The server says something else of it than what was confirmed: %(parts)s."))
GONE = Sentence(_("The server does not offer it any more."))
CALL = Sentence(_("Call %(tool)s"))
