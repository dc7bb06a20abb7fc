"""The one way a document is refused."""

from __future__ import annotations


class Unreadable(Exception):
    """A file that was not read, and why, in words for the person who gave it.

    `code` is stable and meant for programs and translations: `empty`, `too_large`, `encrypted`, `corrupt`,
    `scanned`, `macros`, `external_entity`, `archive_bomb`, `unsupported`. `message` is one short English
    paragraph: what happened, what was not done, what to do next. `details` holds the numbers in it.
    """

    def __init__(self, code: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details

    def as_dict(self) -> dict[str, object]:
        """The JSON form that travels in a step's output."""
        return {"code": self.code, "message": self.message, "details": self.details}
