"""What ends the story early."""

from __future__ import annotations


class Trouble(Exception):
    """Something is not as it should be. The text is shown as it is: what happened, what was not done, what to do."""
