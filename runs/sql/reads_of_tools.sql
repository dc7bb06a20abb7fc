-- Purpose: calls of a tenant that only read, of the last days, by tool: how many ended, how many of them failed. Effects are
-- counted by their intents. Takes no locks; goes along the primary key, because ids are ordered by time (UUIDv7).
SELECT c.tool_id, count(*), count(*) FILTER (WHERE s.status = 'FAILED')
FROM runs_step s
JOIN tools_contract c ON c.id = s.contract_id
WHERE s.id >= (lpad(to_hex((extract(epoch FROM now() - make_interval(days => %(days)s)) * 1000)::bigint), 12, '0')
        || repeat('0', 20))::uuid
    AND s.tenant_id = %(tenant)s
    AND s.intent_id IS NULL
    AND s.attempt > 0
    AND s.status IN ('SUCCEEDED', 'FAILED')
    AND c.effect_class = 'read_only'
GROUP BY c.tool_id
