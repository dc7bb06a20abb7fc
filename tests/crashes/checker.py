"""The oracle of drills: what must be true of the tables and the ledger, whatever was killed, frozen or repeated.

Shares no code with the product: plain SQL over psycopg, and the ledger's own count. The numbers are those of the faults
page: I1 every accepted task is there … I13 undo in reverse. Each check gives a line of text for whatever is wrong.
``ALWAYS`` holds after every transaction, ``RESTING`` once nothing can move by itself any more.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

import orjson
import psycopg

from tests.crashes.ledger import Ledger

Connection = psycopg.Connection[Any]

#: Every row that a statement gives is a violation.
STATEMENTS: Mapping[str, str] = {
    # A run that lives has a step that lives, or a person to ask; a step that waits has a question that will be applied.
    "I2": """
        SELECT 'run ' || r.id || ' is ' || r.status || ' and nobody holds it' FROM runs_run r
        WHERE r.status NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
          AND NOT EXISTS (SELECT 1 FROM runs_step s WHERE s.run_id = r.id AND s.status IN
                          ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN'))
          AND NOT EXISTS (SELECT 1 FROM approvals_pendingaction a WHERE a.run_id = r.id
                          AND (a.status = 'OPEN' OR a.applied_at IS NULL))
        UNION ALL
        SELECT 'step ' || s.key || ' of ' || s.run_id || ' is ' || s.status || ' and nobody is asked' FROM runs_step s
        WHERE s.status IN ('WAITING_APPROVAL', 'UNKNOWN')
          AND NOT EXISTS (SELECT 1 FROM approvals_pendingaction a WHERE a.step_id = s.id
                          AND (a.kind = 'settle') = (s.status = 'UNKNOWN')
                          AND (a.status = 'OPEN' OR a.applied_at IS NULL))""",
    # One terminal event, the last; the state is what the events say.
    "I3": """
        SELECT 'run ' || r.id || ' is ' || r.status || ', its events say ' || COALESCE(e.types, 'nothing') || ', the last one '
               || (SELECT l.type || ' ' || l.payload FROM runs_event l WHERE l.run_id = r.id ORDER BY l.sequence DESC LIMIT 1)
        FROM runs_run r
        LEFT JOIN LATERAL (
            SELECT string_agg(e.type, ' ' ORDER BY e.sequence) AS types, max(e.sequence) AS last FROM runs_event e
            WHERE e.run_id = r.id AND e.type IN ('run.succeeded', 'run.failed', 'run.cancelled')) e ON true
        WHERE CASE WHEN r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
                   THEN e.types IS DISTINCT FROM 'run.' || lower(r.status) OR e.last <> r.event_seq
                        OR r.finished_at IS NULL
                   ELSE e.types IS NOT NULL END
        UNION ALL
        SELECT 'run ' || r.id || ' is ' || r.status || ' after a cancel' FROM runs_run r
        WHERE r.status NOT IN ('CANCEL_REQUESTED', 'COMPENSATING', 'CANCELLED')
          AND EXISTS (SELECT 1 FROM runs_event e WHERE e.run_id = r.id AND e.type = 'run.cancel_requested')""",
    # What was sent after approval had a grant over the same bytes, in time, used once, by somebody else than who asked.
    "I6": """
        SELECT 'intent ' || i.key || ' was sent without a grant that covers it' FROM tools_intent i
        WHERE i.dispatches > 0
          AND EXISTS (SELECT 1 FROM approvals_pendingaction a WHERE a.intent_id = i.id AND a.kind = 'approve')
          AND NOT EXISTS (
            SELECT 1 FROM approvals_pendingaction a JOIN approvals_decision d ON d.action_id = a.id
            WHERE a.intent_id = i.id AND a.kind = 'approve' AND a.status = 'CONSUMED' AND d.verdict = 'approve'
              AND d.digest_seen = a.digest AND d.at <= i.dispatched_at AND a.expires_at > i.dispatched_at
              AND d.user_id <> a.submitter_id AND a.intent_id = i.id)
        UNION ALL
        SELECT 'intent ' || i.key || ' cannot be undone and was sent unasked'
        FROM tools_intent i JOIN tools_contract c ON c.id = i.contract_id
        WHERE i.dispatches > 0 AND c.effect_class = 'irreversible' AND i.grant IS NULL""",
    # Nothing is begun after a cancel, a rejection or an end.
    "I7": """
        SELECT 'event ' || e.sequence || ' of ' || e.run_id || ' sends after ' || stop.type
        FROM runs_event e JOIN runs_event stop ON stop.run_id = e.run_id AND stop.sequence < e.sequence
        JOIN runs_step s ON s.id = e.step_id
        WHERE e.type = 'step.sending'
          AND (stop.type IN ('run.succeeded', 'run.failed', 'run.cancelled')
               OR (stop.type IN ('run.cancel_requested', 'run.compensating') AND s.kind <> 'undo')
               OR (stop.step_id = e.step_id AND stop.type IN ('step.failed', 'step.cancelled', 'step.succeeded')))""",
    # The fence of a step rises; nobody writes under an older one.
    "I8": """
        SELECT 'event ' || f.sequence || ' of ' || f.run_id || ' is written under fence ' || f.fence || ' after ' || f.before
        FROM (SELECT e.run_id, e.sequence, e.fence, max(e.fence) OVER (
                  PARTITION BY e.step_id ORDER BY e.sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
              FROM runs_event e WHERE e.fence > 0 AND e.step_id IS NOT NULL) f
        WHERE f.fence < f.before
        UNION ALL
        SELECT 'step ' || s.key || ' has fence ' || s.fence || ', its intent ' || i.fence
        FROM runs_step s JOIN tools_intent i ON i.id = s.intent_id WHERE i.fence > s.fence
        UNION ALL
        SELECT 'fence ' || min(e.fence) || ' was sent under twice'
        FROM runs_event e WHERE e.type = 'step.sending' GROUP BY e.step_id, e.fence HAVING count(*) > 1""",
    "I9": """
        SELECT 'run ' || r.id || ' has ' || count(e.sequence) || ' events up to ' || COALESCE(max(e.sequence), 0)
               || ', its head says ' || r.event_seq
        FROM runs_run r LEFT JOIN runs_event e ON e.run_id = r.id
        GROUP BY r.id, r.event_seq
        HAVING count(e.sequence) <> r.event_seq OR COALESCE(max(e.sequence), 0) <> r.event_seq""",
    "I10": """
        SELECT 'decision ' || d.id || ' has ' || count(a.sequence) || ' lines of audit'
        FROM approvals_decision d
        LEFT JOIN accounts_auditentry a ON a.payload ->> 'decision' = replace(d.id::text, '-', '')
        GROUP BY d.id HAVING count(a.sequence) <> 1
        UNION ALL
        SELECT 'the audit of tenant ' || a.tenant_id || ' has ' || count(*) || ' entries up to ' || max(a.sequence)
        FROM accounts_auditentry a GROUP BY a.tenant_id HAVING count(*) <> max(a.sequence)""",
    # What has ended holds nothing and asks nothing.
    "I11": """
        SELECT 'run ' || r.id || ' is ' || r.status || ', its step ' || s.key || ' is ' || s.status
        FROM runs_run r JOIN runs_step s ON s.run_id = r.id
        WHERE r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
          AND s.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN') AND s.kind <> 'plan'
        UNION ALL
        SELECT 'run ' || r.id || ' is ' || r.status || ', its step ' || s.key || ' is leased'
        FROM runs_run r JOIN runs_step s ON s.run_id = r.id
        WHERE r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND s.lease_until IS NOT NULL
        UNION ALL
        SELECT 'run ' || r.id || ' is ' || r.status || ', its intent ' || i.key || ' is ' || i.status
        FROM runs_run r JOIN tools_intent i ON i.run_id = r.id
        WHERE r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
          AND i.status IN ('PROPOSED', 'AUTHORISED', 'DISPATCHED', 'UNKNOWN')
        UNION ALL
        SELECT 'run ' || r.id || ' is ' || r.status || ', a question of kind ' || a.kind || ' is ' || a.status
        FROM runs_run r JOIN approvals_pendingaction a ON a.run_id = r.id
        WHERE r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND a.status IN ('OPEN', 'APPROVED')""",
    # Everybody is told of an end, in one message.
    "I12": """
        SELECT 'run ' || r.id || ' is ' || r.status || ', told ' || count(m.*) || ' times'
        FROM runs_run r
        LEFT JOIN outbox_message m ON m.topic = 'run.finished' AND m.payload ->> 'run_id' = replace(r.id::text, '-', '')
        WHERE r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') GROUP BY r.id HAVING count(m.*) <> 1""",
    "I13": """
        SELECT 'intent ' || u.key || ' undoes ' || i.key || ', which is ' || i.status
        FROM tools_intent u JOIN tools_intent i ON i.id = u.compensates_id
        WHERE u.dispatches > 0 AND i.status NOT IN ('CONFIRMED', 'COMPENSATED')
        UNION ALL
        SELECT 'intent ' || i.key || ' is undone by ' || count(u.id) || ' others'
        FROM tools_intent u JOIN tools_intent i ON i.id = u.compensates_id GROUP BY i.key HAVING count(u.id) > 1
        UNION ALL
        SELECT 'intent ' || i.key || ' is ' || i.status || ' while its undo is ' || COALESCE(u.status, 'missing')
        FROM tools_intent i LEFT JOIN tools_intent u ON u.compensates_id = i.id
        WHERE i.status = 'COMPENSATED' AND u.status IS DISTINCT FROM 'CONFIRMED'
        UNION ALL
        SELECT 'intent ' || u.key || ' undoes an undo'
        FROM tools_intent u JOIN tools_intent i ON i.id = u.compensates_id WHERE i.compensates_id IS NOT NULL
        UNION ALL
        -- What was sent later is undone first, and the next undo is sent when the one before has its outcome.
        SELECT 'the undo of ' || older.key || ' was sent before that of ' || newer.key || ' had ended'
        FROM tools_intent older
        JOIN tools_intent newer ON newer.run_id = older.run_id AND newer.dispatched_at > older.dispatched_at
        JOIN tools_intent first ON first.compensates_id = newer.id AND first.dispatches > 0
        JOIN tools_intent second ON second.compensates_id = older.id AND second.dispatches > 0
        WHERE first.dispatched_at > second.dispatched_at OR first.status IN ('DISPATCHED', 'UNKNOWN')
        UNION ALL
        SELECT 'intent ' || u.key || ' was sent while ' || i.key || ' of its run was ' || i.status
        FROM tools_intent u JOIN tools_intent i ON i.run_id = u.run_id AND i.compensates_id IS NULL
        WHERE u.compensates_id IS NOT NULL AND u.dispatches > 0 AND i.status IN ('DISPATCHED', 'UNKNOWN')
        UNION ALL
        SELECT 'run ' || r.id || ' has ended and intent ' || i.key || ' stands unasked'
        FROM runs_run r JOIN tools_intent i ON i.run_id = r.id JOIN tools_contract c ON c.id = i.contract_id
        WHERE r.status IN ('FAILED', 'CANCELLED') AND i.status = 'CONFIRMED' AND i.compensates_id IS NULL
          AND c.effect_class = 'compensable'
          AND NOT EXISTS (SELECT 1 FROM runs_step s WHERE s.run_id = r.id AND s.kind = 'undo'
                          AND s.input ->> 'undoes' = replace(i.id::text, '-', ''))""",
}
#: As the above, once nothing moves by itself.
AT_REST: Mapping[str, str] = {
    "I2": """
        SELECT 'run ' || r.id || ' is ' || r.status || ' at rest, and no person is asked' FROM runs_run r
        WHERE r.status NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
          AND NOT EXISTS (SELECT 1 FROM approvals_pendingaction a WHERE a.run_id = r.id AND a.status = 'OPEN')""",
    "I5": """
        SELECT 'intent ' || i.key || ' is still DISPATCHED at rest' FROM tools_intent i WHERE i.status = 'DISPATCHED'""",
    "I11": """
        SELECT 'step ' || s.key || ' of ' || s.run_id || ' is leased at rest' FROM runs_step s
        WHERE s.status = 'RUNNING'""",
}
#: Only where a relay runs.
TOLD = """
    SELECT 'message ' || m.topic || ' was not told' FROM outbox_message m
    WHERE m.published_at IS NULL AND m.dead_at IS NULL"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that must not be."""

    invariant: str
    text: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.text}"


def always(connection: Connection, ledger: Ledger) -> list[Finding]:
    """What must hold after every transaction."""
    return [*_told_by(connection, STATEMENTS), *_effects(connection, ledger)]


def at_rest(connection: Connection, ledger: Ledger, *, relayed: bool) -> list[Finding]:
    """What must hold besides once nothing moves by itself. ``relayed``: a relay had the time to tell everything."""
    found = [*always(connection, ledger), *_told_by(connection, AT_REST), *_chains(connection)]
    return [*found, *_told_by(connection, {"I12": TOLD})] if relayed else found


def lost(connection: Connection, accepted: Mapping[str, uuid.UUID]) -> list[Finding]:
    """I1: every task that was accepted is there, under the key that its client gave. ``accepted``: run ids by key."""
    rows = {
        key.rpartition(":")[2]: run
        for key, run in connection.execute("SELECT submit_key, id FROM runs_run").fetchall()
    }
    return [
        Finding("I1", f"task {key} was accepted as {run}, the table has {rows.get(key)}")
        for key, run in accepted.items()
        if rows.get(key) != run
    ]


def _told_by(connection: Connection, statements: Mapping[str, str]) -> list[Finding]:
    text = " UNION ALL ".join(
        f"SELECT '{name}', found.* FROM ({statement}) found" for name, statement in statements.items()
    )
    return [Finding(name, said) for name, said in connection.execute(text).fetchall()]


_INTENTS = """
    SELECT i.key, i.status, i.settled, i.dispatches, c.native_idempotency
    FROM tools_intent i JOIN tools_contract c ON c.id = i.contract_id"""


def _effects(connection: Connection, ledger: Ledger) -> list[Finding]:
    """I4 and I5: the ledger beside the intents."""
    rows = {row[0]: row[1:] for row in connection.execute(_INTENTS).fetchall()}
    found = [Finding("I4", f"{key} happened {n} times") for key, n in ledger.effects.items() if n > 1]
    found += [Finding("I5", f"{key} happened without an intent") for key in ledger.effects if key not in rows]
    for key, (status, _settled, dispatches, keyed) in rows.items():
        happened = ledger.happened(key)
        if status in ("CONFIRMED", "COMPENSATED") and not happened:
            found.append(Finding("I5", f"{key} is {status} and did not happen"))
        elif happened and dispatches == 0:
            found.append(Finding("I5", f"{key} happened and was never begun"))
        elif happened and not keyed and status in ("PROPOSED", "REJECTED", "VOIDED", "AUTHORISED"):
            # Of a far side that keeps keys a repeat finds out what an earlier sender still did.
            found.append(Finding("I5", f"{key} is {status} and happened"))
    return found


_EVENTS = """
    SELECT e.run_id, e.sequence, e.step_id, e.type, e.actor, e.epoch, e.fence, e.input_digest, e.artifacts, e.payload, e.at,
           e.hash FROM runs_event e ORDER BY e.run_id, e.sequence"""


def _chains(connection: Connection) -> Iterable[Finding]:
    """I9: each event carries the hash of the one before, over everything that it says."""
    before: dict[uuid.UUID, bytes] = {}
    for run, *fields, payload, at, digest in connection.execute(_EVENTS).fetchall():
        # A payload can be erased, so its digest stands for it.
        said = hashlib.sha256(orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)).hexdigest()
        body = orjson.dumps([run, *fields, said, at.astimezone(UTC)], option=orjson.OPT_SORT_KEYS)
        expected = hashlib.sha256(before.get(run, bytes(32)) + body).digest()
        if bytes(digest) != expected:
            yield Finding("I9", f"event {fields[0]} of {run} does not carry the hash of what it says")
        before[run] = bytes(digest)


def table(findings: Iterable[Finding], numbers: Iterable[str]) -> str:
    """One line for each invariant that was looked at, with how often it was broken."""
    broken: dict[str, int] = {}
    for finding in findings:
        broken[finding.invariant] = broken.get(finding.invariant, 0) + 1
    rows = (f"| {number} | {broken.get(number) or 'holds'} |" for number in numbers)
    return "\n".join(["| Invariant | Broken |", "|---|---|", *rows])
