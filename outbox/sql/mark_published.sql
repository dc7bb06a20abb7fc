-- Note what was delivered. Who wins: a relay that was overtaken (attempts raised by another) or is late changes nothing.
UPDATE outbox_message AS message
SET published_at = clock_timestamp(), last_error = ''
FROM unnest(%(ids)s::uuid[], %(attempts)s::int[]) AS told (id, attempt)
WHERE message.id = told.id
  AND message.attempts = told.attempt
  AND message.published_at IS NULL
  AND message.dead_at IS NULL
RETURNING message.id;
