"""Ids in addresses: shown with their prefix (``run_0192…``). Anything that is not such an id names nothing:
404."""

from django.urls import register_converter

from accounts.converters import PublicId


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
