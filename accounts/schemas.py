"""JSON Schemas of objects, as agents give them for inputs and for questions. Nothing is ever fetched: a schema refers to
itself alone."""

from collections.abc import Mapping
from typing import Any

import jsonschema
from referencing import Registry

from accounts.canonical import BadInput, canonical, check_storable

#: Bytes of canonical JSON.
LARGEST = 20_000


class BadSchema(ValueError):
    """The schema cannot be used; the text says why."""


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raises :class:`BadSchema` unless it is a schema of an object that a form can be made from."""
    try:
        check_storable(schema)
        size = len(canonical(schema))
        jsonschema.Draft202012Validator.check_schema(dict(schema))
    except BadInput as error:
        raise BadSchema(error.text) from error
    except jsonschema.SchemaError as error:
        raise BadSchema(f"It is no JSON Schema: {error.message}"[:300]) from error
    if size > LARGEST:
        raise BadSchema(f"The schema is larger than {LARGEST} bytes.")
    if schema.get("type", "object") != "object" or not isinstance(schema.get("properties", {}), Mapping):
        raise BadSchema("The schema must be one of an object.")


def problems(schema: Mapping[str, Any], value: Any) -> list[jsonschema.ValidationError]:
    """What of a value does not fit, in the order of the schema; empty when it fits."""
    validator = jsonschema.Draft202012Validator(
        {"type": "object", **schema}, format_checker=jsonschema.FormatChecker(), registry=Registry()
    )
    return list(validator.iter_errors(value))


def place(problem: jsonschema.ValidationError) -> str:
    """The property that a problem is about; empty when it is about the whole."""
    named = next(iter(problem.absolute_path), "")
    if not named and problem.validator == "required":
        wanted: Any = problem.validator_value
        given: Any = problem.instance
        named = next((name for name in wanted if name not in given), "")
    return str(named)
