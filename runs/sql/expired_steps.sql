-- Purpose: steps whose lease ran out, from each tenant as many as make `limit` together, so that one tenant's dead leases do
-- not stand before another's (L18). Only a look: the write that follows compares owner, fence and expiry again, so two
-- sweeps over one dead lease count it once.
-- Not those that another worker may take only when their owner is known to be gone: see withheld_steps.
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
       s.timeout_seconds, s.intent_id, s.contract_id, s.owner_id, s.version, s.run_epoch
FROM tenant t CROSS JOIN LATERAL (
    SELECT s.*, r.version, r.epoch AS run_epoch
    FROM runs_step s JOIN runs_run r ON r.id = s.run_id
    WHERE s.status = 'RUNNING' AND s.tenant_id = t.id AND s.lease_until < now()
      AND NOT EXISTS (
          SELECT 1
          FROM tools_contract c JOIN tools_workerprocess w ON w.id = s.owner_id AND w.stopped_at IS NULL
          WHERE c.id = s.contract_id AND c.takeover_rule = 'known_gone'
            AND r.status = ANY (%(plannable)s) AND (r.failure IS NULL OR r.failure = 'null')
            AND NOT EXISTS (SELECT 1 FROM tools_intent i
                            WHERE i.id = s.intent_id AND i.status IN ('DISPATCHED', 'UNKNOWN', 'CONFIRMED')))
    ORDER BY s.lease_until
    LIMIT (SELECT ceil(%(limit)s::float8 / count(*))::int FROM tenant)) s
ORDER BY s.lease_until
LIMIT %(limit)s
