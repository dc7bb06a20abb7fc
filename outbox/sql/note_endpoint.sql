-- How an endpoint is doing: a success ends its failing time, a failure begins one, and one that failed for too long, or is
-- gone for good, is switched off.
-- Who wins: couriers of one endpoint queue on its row; only the one that finds it active and switches it off gets a row back.
UPDATE outbox_webhookendpoint AS endpoint
SET failing_since = CASE WHEN %(taken)s THEN NULL ELSE coalesce(endpoint.failing_since, clock_timestamp()) END,
    active = NOT (
        NOT %(taken)s
        AND (
            %(gone)s
            OR coalesce(endpoint.failing_since < clock_timestamp() - make_interval(secs => %(patience)s), false)
        )
    )
WHERE endpoint.id = %(id)s
  AND endpoint.active
  AND (NOT %(taken)s OR endpoint.failing_since IS NOT NULL)
RETURNING endpoint.active, endpoint.failing_since;
