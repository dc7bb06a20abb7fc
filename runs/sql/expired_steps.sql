-- Purpose: steps whose lease ran out. Only a look: the write that follows compares owner, fence and expiry again, so two
-- sweeps over one dead lease count it once.
-- now() is the start of this statement (it runs by itself) and, unlike clock_timestamp(), can be looked up in the index.
SELECT s.id, s.run_id, s.tenant_id, s.key, s.kind, s.tool, s.pool, s.attempt, s.failures, s.losses, s.epoch, s.fence,
       s.timeout_seconds, s.intent_id, s.contract_id, s.owner_id, r.version, r.epoch
FROM runs_step s JOIN runs_run r ON r.id = s.run_id
WHERE s.status = 'RUNNING' AND s.lease_until < now()
ORDER BY s.lease_until
LIMIT %(limit)s
