"""Operations of an OpenAPI document (3.0 and 3.1) as drafts of contracts. Pure.

What the document claims about an operation counts for nothing but its form: a method that only reads becomes read-only,
every other one cannot be undone and asks a person, until an administrator says otherwise. References lead nowhere outside of
the document. Source: OpenAPI Specification 3.1.1, sections 4.8.10 (operation), 4.8.12 (parameter), 4.8.14 (media type).
"""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import yaml

from accounts.canonical import BadInput, check_storable, strict_loads
from tools.models import Contract, EffectClass, Risk

#: Of a document. YAML is read by Python itself, byte by byte, while the page waits.
MAX_BYTES, MAX_YAML = 10_000_000, 2_000_000
METHODS = ("get", "head", "post", "put", "patch", "delete")
READS = ("get", "head")
#: Said by the protocol itself; an argument must not set them.
OWN_HEADERS = {"accept", "content-type", "authorization", "host", "content-length", "idempotency-key"}
_SCHEMAS = "#/components/schemas/"
_LONGEST = 60
_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs")
_VALUES = ("enum", "const", "default", "examples", "required")


class BadDocument(ValueError):
    """It is no OpenAPI document that can be read; the text says why."""


class _Plain(yaml.SafeLoader):
    """YAML without what JSON does not have: aliases (which can grow without end), dates, a key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise BadDocument("Aliases are not followed.")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len({str(key) for key in keys}) != len(keys):
            raise BadDocument("A key stands there twice.")
        return {str(key): value for key, value in super().construct_mapping(node, deep=deep).items()}


_Plain.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if not tag.endswith(":timestamp")]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. ``declared`` are fields of a contract, ``notes`` what was left out or decided."""

    name: str
    title: str
    description: str
    method: str
    path: str
    declared: Mapping[str, Any]
    notes: tuple[str, ...] = field(default=())


def read(text: str) -> dict[str, Any]:
    """The document, from JSON or YAML. Raises :class:`BadDocument`."""
    size, is_json = len(text.encode("utf-8", "replace")), text.lstrip().startswith("{")
    if size > MAX_BYTES:
        raise BadDocument(f"It is larger than {MAX_BYTES // 1_000_000} MB.")
    if size > MAX_YAML and not is_json:
        raise BadDocument(
            f"As YAML it is read up to {MAX_YAML // 1_000_000} MB: take the same document as JSON."
        )
    try:
        if is_json:
            found = strict_loads(text, max_bytes=MAX_BYTES)
        else:
            found = yaml.load(text, Loader=_Plain)  # noqa: S506 - it is a SafeLoader
            check_storable(found)
    except BadInput as bad:
        raise BadDocument(bad.text) from bad
    except (yaml.YAMLError, RecursionError, ValueError) as bad:
        raise BadDocument(" ".join(str(bad).split())[:300]) from bad
    if not isinstance(found, dict) or not str(found.get("openapi", "")).startswith(("3.0", "3.1")):
        raise BadDocument("It does not begin as an OpenAPI document of version 3.0 or 3.1 does.")
    if not isinstance(found.get("paths"), dict):
        raise BadDocument("It has no paths.")
    return found


def operations(document: Mapping[str, Any], *, prefix: str) -> list[Operation]:
    """Every operation that can be called, in the order of the document. ``prefix`` begins each name: ``crm``. Raises
    :class:`BadDocument` when it names no server."""
    base = _server(document)
    found: list[Operation] = []
    taken: set[str] = set()
    for path, item in document["paths"].items():
        if not isinstance(item, dict):
            continue
        for method in METHODS:
            described = item.get(method)
            if isinstance(described, dict):
                made = _operation(document, base, str(path), method, item, described, prefix, taken)
                taken.add(made.name)
                found.append(made)
    return found


def _operation(
    document: Mapping[str, Any],
    base: str,
    path: str,
    method: str,
    item: Mapping[str, Any],
    described: Mapping[str, Any],
    prefix: str,
    taken: set[str],
) -> Operation:
    shared = _Schema(document)
    config: dict[str, Any] = {"method": method.upper()}
    notes: list[str] = []
    for parameter in _parameters(document, item, described):
        _place(parameter, shared, config, notes)
    _body(document, described, shared, config, notes)
    reads = method in READS
    title = str(described.get("summary") or f"{method.upper()} {path}")[:200]
    declared = {
        "adapter": "http",
        "target": (base + path)[:500],
        "config": config,
        "input_schema": shared.whole(),
        "isolation": Contract.Isolation.THREAD,
        "effect_class": EffectClass.READ_ONLY if reads else EffectClass.IRREVERSIBLE,
        "risk": Risk.LOW if reads else Risk.HIGH,
        "egress_hosts": [_host(base)],
    }
    return Operation(
        name=safe_name(prefix, str(described.get("operationId") or f"{method}_{path}"), taken),
        title=title,
        description=str(described.get("description") or "")[:2000],
        method=method.upper(),
        path=path,
        declared=declared,
        notes=tuple(notes),
    )


class _Schema:
    """The schema of all arguments of one operation, with the shared schemas that it refers to."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.shared: Mapping[str, Any] = (document.get("components") or {}).get("schemas") or {}
        self.properties: dict[str, Any] = {}
        self.required: list[str] = []
        self.open = False
        self.wanted: dict[str, Any] = {}

    def add(self, name: str, schema: Any, *, required: bool) -> None:
        self.properties[name] = self.local(schema)
        if required and name not in self.required:
            self.required.append(name)

    def local(self, schema: Any) -> Any:
        """A copy whose references lead into ``$defs``, in the words of JSON Schema 2020-12."""
        if isinstance(schema, list):
            return [self.local(one) for one in schema]
        if not isinstance(schema, dict):
            return copy.deepcopy(schema)
        if isinstance(schema.get("$ref"), str):
            return self._referred(schema["$ref"])
        made = {key: self._part(key, value) for key, value in schema.items() if not _foreign(key)}
        if schema.get("nullable") is True and isinstance(made.get("type"), str):
            made["type"] = [made["type"], "null"]
        for bound, edge in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if isinstance(made.get(bound), bool) and made.pop(bound) and edge in made:
                made[bound] = made.pop(edge)
        return made

    def _part(self, key: str, value: Any) -> Any:
        """Names below some words are names of values, not words of the schema; some words hold values."""
        if key in _MAPS and isinstance(value, dict):
            return {name: self.local(one) for name, one in value.items()}
        return copy.deepcopy(value) if key in _VALUES else self.local(value)

    def _referred(self, reference: str) -> dict[str, Any]:
        name = reference.removeprefix(_SCHEMAS)
        if not reference.startswith(_SCHEMAS) or name not in self.shared:
            raise BadDocument(f"{reference[:200]} is not in the document.")
        if name not in self.wanted:
            self.wanted[name] = True
            self.wanted[name] = self.local(self.shared[name])
        return {"$ref": f"#/$defs/{name}"}

    def whole(self) -> dict[str, Any]:
        made: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            made["required"] = self.required
        if not self.open:
            made["additionalProperties"] = False
        if self.wanted:
            made["$defs"] = self.wanted
        return made


def _foreign(key: str) -> bool:
    """Words of OpenAPI that JSON Schema does not know."""
    return key in ("nullable", "discriminator", "xml", "example", "externalDocs") or key.startswith("x-")


def _parameters(
    document: Mapping[str, Any], item: Mapping[str, Any], described: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """Those of the path and of the operation; the operation's own count where both name one."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for given in [*(item.get("parameters") or []), *(described.get("parameters") or [])]:
        parameter = _resolved(document, given)
        if isinstance(parameter, dict) and isinstance(parameter.get("name"), str):
            found[(str(parameter.get("in")), parameter["name"])] = parameter
    yield from found.values()


def _place(parameter: Mapping[str, Any], shared: _Schema, config: dict[str, Any], notes: list[str]) -> None:
    name, where = parameter["name"], parameter.get("in")
    schema = parameter.get("schema") or {}
    if where == "cookie" or (where == "header" and name.lower() in OWN_HEADERS):
        notes.append(f"{where} {name}: left out")
        return
    if where == "header":
        config.setdefault("headers", {})[name] = name
    elif where == "query":
        config.setdefault("query", []).append(name)
    shared.add(name, schema, required=bool(parameter.get("required")) or where == "path")


def _body(
    document: Mapping[str, Any],
    described: Mapping[str, Any],
    shared: _Schema,
    config: dict[str, Any],
    notes: list[str],
) -> None:
    body = _resolved(document, described.get("requestBody"))
    if not isinstance(body, dict):
        return
    kinds: Mapping[str, Any] = body.get("content") or {}
    kind = next((k for k in kinds if k.split(";")[0].endswith("json")), None)
    form = next((k for k in kinds if k.startswith("application/x-www-form-urlencoded")), None)
    chosen = kind or form
    if chosen is None:
        notes.append(f"body: {', '.join(kinds) or 'nothing'} cannot be sent, left out")
        return
    config["body"] = "json" if kind else "form"
    schema = shared.local((kinds[chosen] or {}).get("schema") or {})
    flat = shared.wanted.get(str(schema.get("$ref", "")).removeprefix("#/$defs/"), schema)
    required = bool(body.get("required"))
    simple = (
        isinstance(flat, dict)
        and flat.get("type") == "object"
        and not {"allOf", "oneOf", "anyOf"} & set(flat)
    )
    if not simple or set(flat.get("properties") or {}) & set(shared.properties):
        config["whole_body"] = "body"
        shared.properties["body"] = schema
        shared.required += ["body"] if required else []
        return
    shared.properties |= flat.get("properties") or {}
    shared.required += [name for name in flat.get("required") or [] if required]
    shared.open = flat.get("additionalProperties") is not False


def _resolved(document: Mapping[str, Any], given: Any) -> Any:
    """What a reference to a shared parameter or body stands for."""
    for _ in range(10):
        if not isinstance(given, dict) or not isinstance(given.get("$ref"), str):
            return given
        value: Any = document
        for part in given["$ref"].removeprefix("#/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            value = value.get(name) if isinstance(value, dict) else None
        if not given["$ref"].startswith("#/") or value is None:
            raise BadDocument(f"{given['$ref'][:200]} is not in the document.")
        given = value
    raise BadDocument("References lead in a circle.")


def _server(document: Mapping[str, Any]) -> str:
    servers = document.get("servers")
    first = servers[0] if isinstance(servers, list) and servers and isinstance(servers[0], dict) else {}
    url = str(first.get("url") or "")
    for name, about in (first.get("variables") or {}).items():
        url = url.replace("{" + str(name) + "}", str((about or {}).get("default", "")))
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise BadDocument(
            "It names no server with a whole address: add one under 'servers', like https://crm.example/v1."
        )
    return url.rstrip("/")


def _host(base: str) -> str:
    parts = urlsplit(base)
    host = parts.hostname or ""
    return f"{host}:{parts.port}" if parts.port else host


def safe_name(prefix: str, text: str, taken: set[str]) -> str:
    """``createOrder`` becomes ``crm.create_order``."""
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text)
    plain = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_") or "call"
    plain = plain if plain[0].isalpha() else f"call_{plain}"
    name = f"{prefix}.{plain}"[:_LONGEST].rstrip("._")
    number, made = 2, name
    while made in taken:
        made, number = f"{name}_{number}", number + 1
    return made
