-- Purpose: steps whose lease ran out, from each tenant as many as make `limit` together, so that one tenant's dead leases do
-- not stand before another's (L18). Only a look: the write that follows compares owner, fence and expiry again, so two
-- sweeps over one dead lease count it once.
-- now() is the start of this statement (it runs by itself) and, unlike clock_timestamp(), can be looked up in the index.
WITH RECURSIVE tenant(id, n) AS (
    (SELECT s.tenant_id, 1 FROM runs_step s
     WHERE s.status = 'RUNNING' AND s.lease_until < now() ORDER BY s.tenant_id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, t.n + 1
    FROM tenant t CROSS JOIN LATERAL (
        SELECT s.tenant_id FROM runs_step s
        WHERE s.status = 'RUNNING' AND s.tenant_id > t.id AND s.lease_until < now()
        ORDER BY s.tenant_id LIMIT 1) next
    WHERE t.n < %(limit)s)
SELECT s.id, s.run_id, s.tenant_id, s.key, s.kind, s.tool, s.pool, s.attempt, s.failures, s.losses, s.epoch, s.fence,
       s.timeout_seconds, s.intent_id, s.contract_id, s.owner_id, r.version, r.epoch
FROM tenant t CROSS JOIN LATERAL (
    SELECT * FROM runs_step s
    WHERE s.status = 'RUNNING' AND s.tenant_id = t.id AND s.lease_until < now()
    ORDER BY s.lease_until
    LIMIT (SELECT ceil(%(limit)s::float8 / count(*))::int FROM tenant)) s
JOIN runs_run r ON r.id = s.run_id
ORDER BY s.lease_until
LIMIT %(limit)s
