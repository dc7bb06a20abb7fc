"""The sentences about effects that are kept in rows. Pages say them in the reader's language (`accounts.said`)."""

from django.utils.translation import gettext_noop as _

from accounts.said import Sentence
from tools.adapters import smtp

SEND = Sentence(smtp.SENTENCE)
CALL = Sentence(_("Call %(tool)s"))
