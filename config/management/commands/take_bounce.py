"""A mail pipe: reports of mail servers about letters that were sent here."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from runs.engine.bounced import take
from tools.bounces import MOST_BYTES, NoReport

WORDS = {
    "recorded": "Recorded as evidence: {action}, {recipient}.",
    "repeated": "Nothing changed, it was recorded before: {action}, {recipient}.",
    "not_ours": "Nothing changed: no letter with this Message-ID was sent here in the last weeks ({recipient}).",
}


class Command(BaseCommand):
    """``manage.py take_bounce < message``: one delivery status notification (RFC 3464) from the standard input."""

    help = "Attach a bounce of a mail to the effect that it is about, as evidence."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--file", default="-", help="the message; without it the standard input")

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        if file == "-":
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(file).open("rb") as stored:
                data = stored.read(MOST_BYTES + 1)
        try:
            taken = take(data=data, channel="pipe")
        except NoReport as error:
            raise CommandError(f"{error} Nothing was recorded.") from error
        for one in taken:
            self.stdout.write(
                WORDS[one.what].format(action=one.action, recipient=one.recipient or "nobody named")
            )
