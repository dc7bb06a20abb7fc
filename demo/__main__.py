"""`python -m demo`: 0 when the story went as it should, 1 when it did not; the last lines say what happened."""

from __future__ import annotations

import argparse
import os
import signal
import sys

import httpx

from demo import story
from demo.houses import a_house
from demo.trouble import Trouble
from demo.words import _, say


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make demo", description=_("Tells the main story through the REST API.")
    )
    parser.add_argument("--own", action="store_true", help=_("start a house even where one is running"))
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with a_house(own=given.own) as house:
            story.tell(house)
    except Trouble as trouble:
        return _failed(str(trouble))
    except httpx.HTTPError as error:
        return _failed(_("The house does not answer any more: {why}.").format(why=error))
    except KeyboardInterrupt:
        return _failed(_("Stopped by hand."))
    except BrokenPipeError:
        # Nobody reads on, as with `| head`: there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _failed(what: str) -> int:
    say("")
    for line in _("The story ends here. {what}").format(what=what).splitlines():
        say(line)
    return 1


if __name__ == "__main__":
    sys.exit(main())
