-- Take due webhook deliveries, heads of their keys only, at most so many of one endpoint, and hide them while they are sent.
-- Who wins: SKIP LOCKED lets couriers share the work; the loser of a race sees the raised next_attempt_at and passes.
-- Order: a delivery waits while an older one of its endpoint and key is neither delivered nor dead.
-- A courier that was killed after sending leaves the row open: it goes out again, so delivery is at least once.
-- Lock order: rows of this table only, in one statement.
WITH due AS (
    SELECT one.id
    FROM outbox_webhookendpoint AS e
    CROSS JOIN LATERAL (
        SELECT d.id, d.next_attempt_at
        FROM outbox_webhookdelivery AS d
        WHERE d.endpoint_id = e.id
          AND d.delivered_at IS NULL
          AND d.dead_at IS NULL
          AND d.next_attempt_at <= clock_timestamp()
          AND (
              d.key = ''
              OR NOT EXISTS (
                  SELECT 1
                  FROM outbox_webhookdelivery AS older
                  WHERE older.endpoint_id = d.endpoint_id
                    AND older.key = d.key
                    AND older.key <> ''
                    AND older.event_id < d.event_id
                    AND older.delivered_at IS NULL
                    AND older.dead_at IS NULL
              )
          )
        ORDER BY d.next_attempt_at, d.event_id
        LIMIT %(each)s
        FOR UPDATE OF d SKIP LOCKED
    ) AS one
    WHERE e.active AND e.id <> ALL(%(busy)s::uuid[])
    ORDER BY one.next_attempt_at
    LIMIT %(limit)s
)
UPDATE outbox_webhookdelivery AS delivery
SET attempts = delivery.attempts + 1,
    next_attempt_at = clock_timestamp() + make_interval(secs => %(hidden)s)
FROM due, outbox_webhookendpoint AS endpoint
WHERE delivery.id = due.id AND endpoint.id = delivery.endpoint_id
RETURNING delivery.id, delivery.tenant_id, delivery.endpoint_id, delivery.event_id, delivery.type, delivery.body,
    delivery.attempts, endpoint.url,
    CASE WHEN endpoint.old_secrets_until > clock_timestamp() THEN endpoint.secrets ELSE endpoint.secrets[1:1] END,
    clock_timestamp();
