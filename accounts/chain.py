"""The audit chain as bytes: its keys, the hash of an entry, the seal of a head, and the check of a dump. No database:
whoever has the keys can verify what was exported, anywhere.

A line is one act as plain JSON. Its hash is HMAC-SHA256, under the key that the line names, over the hash before it and the
canonical bytes (RFC 8785) of the line. So a changed, missing, added or moved line is found; what is cut from the end is
found against a head that was exported before.
"""

import hashlib
import hmac
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from accounts.canonical import BadInput, canonical, strict_loads

FORMAT = "countersign.audit.1"
START = bytes(32)
#: Longest line of a dump, in bytes.
LONGEST = 4_000_000


@dataclass(frozen=True, slots=True)
class Keyring:
    """Keys by their id. ``current`` signs; all of them verify. The id "" is the key of installations that had none of their
    own, derived from their SECRET_KEY."""

    current: str
    keys: Mapping[str, bytes]

    @classmethod
    def of(cls, audit_keys: Iterable[str], secret_key: str) -> "Keyring":
        """From AUDIT_KEYS, the newest first, and SECRET_KEY."""
        found = {
            key_id(key): hashlib.sha256(b"countersign.audit.2\0" + key.encode()).digest()
            for key in audit_keys
        }
        old = hashlib.sha256(b"countersign.audit.1\0" + secret_key.encode()).digest()
        return cls(next(iter(found), ""), {**found, "": old})


def key_id(key: str) -> str:
    """16 hexadecimal digits by which entries name a key; says nothing about it."""
    return hashlib.sha256(b"countersign.audit.id\0" + key.encode()).hexdigest()[:16]


def digest(before: bytes, line: Mapping[str, Any], ring: Keyring) -> bytes:
    """The hash of a line after the one before. Raises KeyError for a key that the ring does not have."""
    named = str(line.get("key", ""))
    body = {name: value for name, value in line.items() if name not in ("kind", "hash")}
    if not named:
        body.pop("key", None)
    return hmac.digest(ring.keys[named], before + canonical(body), "sha256")


def stamp(at: datetime) -> str:
    """How a line writes a time."""
    return at.astimezone(UTC).isoformat()


def sealed_head(
    *, tenant_id: uuid.UUID, sequence: int, hash: bytes, at: datetime, ring: Keyring
) -> dict[str, Any]:
    """How far a chain reached at a time, under a seal that only the keys can make."""
    head = {
        "kind": "head",
        "format": FORMAT,
        "tenant": tenant_id.hex,
        "sequence": sequence,
        "hash": hash.hex(),
        "at": stamp(at),
        "key": ring.current,
    }
    return {**head, "seal": _seal(head, ring).hex()}


def _seal(head: Mapping[str, Any], ring: Keyring) -> bytes:
    body = {name: value for name, value in head.items() if name != "seal"}
    return hmac.digest(ring.keys[str(head["key"])], b"head\0" + canonical(body), "sha256")


@dataclass(slots=True)
class Verified:
    """What a check found. ``problems`` in plain words, at most ``most``; empty: the chain is whole as far as it goes."""

    problems: list[str] = field(default_factory=list)
    entries: int = 0
    heads: int = 0
    tenant: str = ""
    most: int = 100

    def bad(self, text: str) -> None:
        """Note one problem."""
        if len(self.problems) < self.most:
            self.problems.append(text)


def verify_dump(lines: Iterable[bytes], ring: Keyring, *, heads: Iterable[bytes] = ()) -> Verified:
    """Check a dump: each line against the one before, and against the heads in it and those that were exported before
    (``heads``, lines of the file of heads; those of other tenants are passed over)."""
    found = Verified()
    known = {int(head["sequence"]): head for head in _heads(heads, ring, found, "The file of heads")}
    before, expected, last = START, 1, ""
    reached: dict[int, bytes] = {0: START}
    for number, line in _parsed(lines, found, "The dump"):
        last = str(line.get("kind"))
        if last == "head":
            found.heads += 1
            if _good_seal(line, ring) and str(line["tenant"]) == (found.tenant or line["tenant"]):
                known.setdefault(int(line["sequence"]), line)
                _compare(line, reached, expected - 1, before, found)
            else:
                found.bad(f"The head in line {number} is not one of this chain's.")
            continue
        found.tenant = found.tenant or str(line.get("tenant"))
        sequence = line.get("sequence")
        if sequence != expected:
            found.bad(_gap(expected, sequence))
        try:
            right = digest(before, line, ring)
        except KeyError:
            found.bad(f"Entry {sequence} names the key {line.get('key')!r}, which is not among AUDIT_KEYS.")
            return found
        if not hmac.compare_digest(right.hex(), str(line.get("hash"))):
            found.bad(f"Entry {sequence} does not match its hash: it, or what was before it, was changed.")
        before = _bytes(line.get("hash"))
        expected = (sequence if isinstance(sequence, int) else expected) + 1
        found.entries += 1
        if sequence in known:
            reached[sequence] = before
    _ends(known, reached, expected - 1, last, found)
    return found


def _ends(
    known: Mapping[int, Mapping[str, Any]], reached: dict[int, bytes], end: int, last: str, found: Verified
) -> None:
    if last != "head":
        found.bad("The dump does not end with its head: something may be cut from its end.")
    for sequence, head in sorted(known.items()):
        if found.tenant and head["tenant"] != found.tenant:
            continue
        if sequence > end:
            found.bad(
                f"The chain reached entry {sequence} on {head['at'][:19]} UTC, and here it ends at {end}: its tail is cut."
            )
        elif sequence in reached and reached[sequence].hex() != head["hash"]:
            found.bad(f"Entry {sequence} is not the one that was the head on {head['at'][:19]} UTC.")


def _compare(
    head: Mapping[str, Any], reached: dict[int, bytes], end: int, before: bytes, found: Verified
) -> None:
    if head["sequence"] != end:
        found.bad(f"Its head says that the chain ends at entry {head['sequence']}; here it ends at {end}.")
    elif before.hex() != head["hash"]:
        found.bad("The last entry is not the one that its head names.")
    reached[end] = before


def _heads(lines: Iterable[bytes], ring: Keyring, found: Verified, where: str) -> Iterator[dict[str, Any]]:
    for number, head in _parsed(lines, found, where):
        if head.get("kind") != "head" or not _good_seal(head, ring):
            found.bad(f"{where}, line {number}: this head has no good seal.")
        else:
            yield head


def _good_seal(head: Mapping[str, Any], ring: Keyring) -> bool:
    try:
        shape = isinstance(head["sequence"], int) and head["format"] == FORMAT
        return shape and hmac.compare_digest(_seal(head, ring).hex(), str(head["seal"]))
    except (KeyError, BadInput):
        return False


def _parsed(lines: Iterable[bytes], found: Verified, where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        try:
            value = strict_loads(line, max_bytes=LONGEST)
        except BadInput as error:
            found.bad(f"{where}, line {number}, cannot be read: {error.text}")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            found.bad(f"{where}, line {number}, is no entry.")


def _gap(expected: int, sequence: Any) -> str:
    if isinstance(sequence, int) and sequence > expected:
        return f"Entries {expected} to {sequence - 1} are missing."
    return f"Entry {sequence} stands where entry {expected} belongs."


def _bytes(text: Any) -> bytes:
    try:
        return bytes.fromhex(str(text))
    except ValueError:
        return START
