-- Note what was delivered. Who wins: the first to note it; a relay that was overtaken tells the truth as well.
UPDATE outbox_message AS message
SET published_at = clock_timestamp(), last_error = ''
WHERE message.id = ANY(%(ids)s::uuid[])
  AND message.published_at IS NULL
  AND message.dead_at IS NULL
RETURNING message.id;
