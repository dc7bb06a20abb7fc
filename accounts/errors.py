"""What the verbs of this room refuse, in words for people."""

from django.utils.functional import Promise


class Refused(Exception):
    """Nothing was changed. ``code`` is stable, ``text`` is translated for the reader, ``field`` names a
    form field."""

    def __init__(self, code: str, text: "str | Promise", *, field: str | None = None) -> None:
        super().__init__(code)
        self.code, self.text, self.field = code, text, field
