-- Purpose: steps whose lease ran out and that stay with their owner all the same: their contract lets another worker take them
-- only when the owner is known to be gone, nothing proves that it is, and nothing was sent (then the outcome is asked for).
-- A run that takes no new work any more keeps nothing back: nobody would run the step again.
-- `fresh`: only those that do not say so yet; `only`: is this step one of them? Only a look: it is asked again under the
-- locks of run and step. The same condition stands in expired_steps, strange_leases and finish_steps.
SELECT s.id, s.run_id, s.tenant_id, s.fence, w.node, w.host
FROM runs_step s
JOIN runs_run r ON r.id = s.run_id
JOIN tools_contract c ON c.id = s.contract_id AND c.takeover_rule = 'known_gone'
JOIN tools_workerprocess w ON w.id = s.owner_id AND w.stopped_at IS NULL
WHERE s.status = 'RUNNING' AND s.lease_until < clock_timestamp()
  AND (%(only)s::uuid IS NULL OR s.id = %(only)s)
  AND (NOT %(fresh)s OR s.waiting_on = '')
  AND r.status = ANY (%(plannable)s) AND (r.failure IS NULL OR r.failure = 'null')
  AND NOT EXISTS (
    SELECT 1 FROM tools_intent i WHERE i.id = s.intent_id AND i.status IN ('DISPATCHED', 'UNKNOWN', 'CONFIRMED'))
ORDER BY s.lease_until
LIMIT %(limit)s
