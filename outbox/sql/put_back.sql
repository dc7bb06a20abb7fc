-- Put messages back after a failed delivery: later, as a dead letter, or (when the way out was closed) uncounted.
-- Who wins: only the relay whose attempt this was.
UPDATE outbox_message AS message
SET attempts = message.attempts - CASE WHEN failed.counted THEN 0 ELSE 1 END,
    next_attempt_at = clock_timestamp() + make_interval(secs => failed.wait),
    dead_at = CASE WHEN failed.dead THEN clock_timestamp() END,
    last_error = failed.error
FROM unnest(
    %(ids)s::uuid[], %(attempts)s::int[], %(waits)s::float8[], %(counted)s::bool[], %(dead)s::bool[], %(errors)s::text[]
) AS failed (id, attempt, wait, counted, dead, error)
WHERE message.id = failed.id
  AND message.attempts = failed.attempt
  AND message.published_at IS NULL
  AND message.dead_at IS NULL
RETURNING message.id;
