"""Ids in addresses: shown with their prefix (``run_0192…``). Anything that is not such an id names nothing:
404."""

import uuid
from typing import ClassVar

from django.urls import register_converter

from accounts.ids import BadId, parse, public


class PublicId:
    """Base: a public id in the path, a UUID in the view. A bare UUID is taken too."""

    kind: ClassVar[str] = ""
    regex = r"(?:[a-z]{3}_)?[0-9a-f-]{32,36}"

    def to_python(self, value: str) -> uuid.UUID:
        try:
            return parse(self.kind, value)
        except BadId as error:
            raise ValueError(value) from error

    def to_url(self, value: uuid.UUID | str) -> str:
        return public(self.kind, value) if isinstance(value, uuid.UUID) else value


class RunId(PublicId):
    """``run_…``"""

    kind = "run"


class ArtifactId(PublicId):
    """``art_…``"""

    kind = "artifact"


class IntentId(PublicId):
    """``int_…``"""

    kind = "intent"


class Digest:
    """SHA-256 in hexadecimal."""

    regex = r"[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(RunId, "run")
register_converter(ArtifactId, "artifact")
register_converter(IntentId, "intent")
register_converter(Digest, "sha256")
