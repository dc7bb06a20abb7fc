-- Purpose: what a worker still holds; read after it is known to be gone.
SELECT s.id, s.run_id, s.tenant_id, s.key, s.kind, s.tool, s.pool, s.attempt, s.failures, s.losses, s.epoch, s.fence,
       s.timeout_seconds, s.intent_id, s.contract_id, s.owner_id, r.version, r.epoch
FROM runs_step s JOIN runs_run r ON r.id = s.run_id
WHERE s.status = 'RUNNING' AND s.owner_id = %(worker)s
LIMIT %(limit)s
