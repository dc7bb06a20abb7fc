-- Take due messages for one pass of one relay, heads of their keys only, and hide them while they are delivered.
-- Asks for what is unpublished, never for what is newer: a message whose transaction committed late is not skipped.
-- Who wins: SKIP LOCKED lets two relays share the work; the loser of a race sees the raised next_attempt_at and passes.
-- Order: a message waits while an older one of its key is neither published nor dead. A relay that was killed after
-- delivering leaves the row unpublished: it comes again when next_attempt_at has passed, so delivery is at least once.
-- Lock order: rows of this table only, in one statement.
WITH due AS (
    SELECT m.id
    FROM outbox_message AS m
    WHERE m.published_at IS NULL
      AND m.dead_at IS NULL
      AND m.next_attempt_at <= clock_timestamp()
      AND (m.topic = ANY(%(topics)s::text[])) = %(these)s
      AND (
          m.key = ''
          OR NOT EXISTS (
              SELECT 1
              FROM outbox_message AS older
              WHERE older.key = m.key
                AND older.key <> ''
                AND older.id < m.id
                AND older.published_at IS NULL
                AND older.dead_at IS NULL
          )
      )
    ORDER BY m.next_attempt_at, m.id
    LIMIT %(limit)s
    FOR UPDATE OF m SKIP LOCKED
)
UPDATE outbox_message AS message
SET attempts = message.attempts + 1,
    next_attempt_at = clock_timestamp() + make_interval(secs => %(hidden)s)
FROM due
WHERE message.id = due.id
RETURNING message.id, message.topic, message.key, message.tenant_id, message.payload, message.attempts;
