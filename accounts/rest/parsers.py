"""JSON as the edge accepts it: no duplicate keys, no NaN, no NUL, no lone surrogates, bounded depth and size (B78–B82)."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from accounts.canonical import MAX_BYTES, BadInput, strict_loads
from accounts.rest.problems import Problem


class StrictJSONParser(BaseParser):
    """``application/json``; refusals are 400, or 413 for a body over the limit."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise Problem(413, "too_large", f"The body is larger than {MAX_BYTES} bytes. Nothing was done.")
        try:
            return strict_loads(data)
        except BadInput as error:
            raise Problem(400, error.code, f"{error.text} Nothing was done.") from error
