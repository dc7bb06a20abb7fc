"""Notes to people: who is told, how, once per event, person and channel, and whether it arrived.

Words: *kind* = what a note is about, as people choose by it (``kinds``) · *writer* = what a room above knows about its topic
(``writers``) · *channel* = mail, in the page, chat · *digest* = one mail with everything that still stands.

An event becomes notes in one transaction (``spread``): a row for each person and channel, and for mail and chat a message of
its own that carries it. So a bad address or a slow server delays nobody else, and no decision waits for any of them. Mail
(``mails``), digests (``digests``) and chat (``chats``) are written at the last moment, with the rights of that moment, and
not at all when there is nothing to say any more.

Dangers: a channel that hangs (each has a lane of its own in the relay) · a note that tells somebody what they may not see
any more (who may be told is asked again when it is written) · a secret in an address of a chat (sealed, never shown).
"""

from outbox.notify.chats import CHAT_TOPIC, CHATS
from outbox.notify.digests import DIGEST_TOPIC, DIGESTS
from outbox.notify.mails import MAIL_TOPIC, MAILS, reference
from outbox.notify.spread import NOTES
from outbox.notify.writers import Writer, register

__all__ = [
    "CHATS",
    "CHAT_TOPIC",
    "DIGESTS",
    "DIGEST_TOPIC",
    "MAILS",
    "MAIL_TOPIC",
    "NOTES",
    "Writer",
    "reference",
    "register",
]
