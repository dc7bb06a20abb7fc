"""What can go wrong with a stored value. A place that does not answer has said nothing about the value."""


class BlobError(Exception):
    """A stored value could not be written or read; the text says which."""


class Damaged(BlobError):
    """A value is known not to be there whole. Nothing of it was handed out. ``sha256`` names it, ``found`` says how:
    ``missing`` or ``corrupt``."""

    found = "corrupt"

    def __init__(self, sha256: str, text: str) -> None:
        super().__init__(text)
        self.sha256 = sha256


class Missing(Damaged):
    """Nothing is stored under that address."""

    found = "missing"


class Corrupt(Damaged):
    """What is stored does not have the checksum that its address promises."""


class Unavailable(BlobError):
    """The place of the values did not answer, or refused: full, unreachable, no rights. Nobody can say how they are."""


class TooLarge(BlobError):
    """The source went on past the limit; reading stopped there and nothing was kept."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"More than {limit} bytes.")
        self.limit = limit
