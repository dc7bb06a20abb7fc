"""Ids in addresses, shown with their prefix (``run_0192…``). Anything that is not such an id names nothing: 404."""

import uuid
from typing import ClassVar

from accounts.ids import BadId, parse, public


class PublicId:
    """Base of converters: a public id in the path, a UUID in the view. A bare UUID is taken too."""

    kind: ClassVar[str] = ""
    regex = r"(?:[a-z]{3}_)?[0-9a-f-]{32,36}"

    def to_python(self, value: str) -> uuid.UUID:
        try:
            return parse(self.kind, value)
        except BadId as error:
            raise ValueError(value) from error

    def to_url(self, value: uuid.UUID | str) -> str:
        return public(self.kind, value) if isinstance(value, uuid.UUID) else value
