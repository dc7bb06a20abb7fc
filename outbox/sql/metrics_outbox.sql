-- Purpose: messages that wait, how long the oldest has, and those given up. Takes no locks; at most 100,000 are looked at.
SELECT
    (SELECT count(*) FROM (SELECT 1 FROM outbox_message m
        WHERE m.published_at IS NULL AND m.dead_at IS NULL LIMIT 100000) AS waiting),
    (SELECT EXTRACT(EPOCH FROM clock_timestamp() - min(m.created_at))::double precision FROM (
        SELECT created_at FROM outbox_message WHERE published_at IS NULL AND dead_at IS NULL LIMIT 100000) AS m),
    (SELECT count(*) FROM outbox_message m WHERE m.dead_at IS NOT NULL),
    (SELECT count(*) FROM (SELECT 1 FROM outbox_webhookdelivery d JOIN outbox_webhookendpoint e ON e.id = d.endpoint_id AND e.active
        WHERE d.delivered_at IS NULL AND d.dead_at IS NULL LIMIT 100000) AS waiting),
    (SELECT count(*) FROM outbox_webhookendpoint e WHERE e.active AND e.failing_since IS NOT NULL)
