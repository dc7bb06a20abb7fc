-- Note what came of one attempt: delivered, to be tried again after a wait, or dead.
-- Who wins: only the courier whose attempt this was; a success is noted whoever's it was.
UPDATE outbox_webhookdelivery AS delivery
SET delivered_at = CASE WHEN %(taken)s THEN clock_timestamp() END,
    dead_at = CASE WHEN %(dead)s AND NOT %(taken)s THEN clock_timestamp() END,
    next_attempt_at = clock_timestamp() + make_interval(secs => %(wait)s),
    last_status = %(status)s,
    last_error = %(error)s
WHERE delivery.id = %(id)s
  AND (delivery.attempts = %(attempt)s OR %(taken)s)
  AND delivery.delivered_at IS NULL
  AND delivery.dead_at IS NULL
RETURNING delivery.id;
