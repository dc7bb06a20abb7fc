-- Purpose: leases that the ordinary reclaim cannot be trusted with (O6): long expired and still there, set beyond the longest
-- lease allowed, held by a worker that is not on record, or renewed for a step that runs beyond its own time limit. Only a
-- look: what follows compares fence and lease again. The index step_lease holds the running steps alone.
-- Not those that stay with their owner although their lease ran out: see withheld_steps.
-- The first columns are those of expired_steps.
SELECT s.id, s.run_id, s.tenant_id, s.key, s.kind, s.tool, s.pool, s.attempt, s.failures, s.losses, s.epoch, s.fence,
       s.timeout_seconds, s.intent_id, s.contract_id, s.owner_id, r.version, r.epoch,
       CASE WHEN s.lease_until < clock_timestamp() - %(grace)s * interval '1 second' THEN 'expired'
            WHEN s.lease_until > clock_timestamp() + %(longest)s * interval '1 second' THEN 'too_long'
            WHEN w.id IS NULL THEN 'no_owner'
            ELSE 'overdue' END AS why
FROM runs_step s
JOIN runs_run r ON r.id = s.run_id
LEFT JOIN tools_workerprocess w ON w.id = s.owner_id
WHERE s.status = 'RUNNING'
  AND (s.lease_until < clock_timestamp() - %(grace)s * interval '1 second'
       OR s.lease_until > clock_timestamp() + %(longest)s * interval '1 second'
       OR w.id IS NULL
       OR s.started_at + (s.timeout_seconds + %(grace)s) * interval '1 second' < clock_timestamp())
  AND (s.lease_until >= clock_timestamp() OR NOT EXISTS (
        SELECT 1
        FROM tools_contract c JOIN tools_workerprocess w ON w.id = s.owner_id AND w.stopped_at IS NULL
        WHERE c.id = s.contract_id AND c.takeover_rule = 'known_gone'
          AND r.status = ANY (%(plannable)s) AND (r.failure IS NULL OR r.failure = 'null')
          AND NOT EXISTS (SELECT 1 FROM tools_intent i
                          WHERE i.id = s.intent_id AND i.status IN ('DISPATCHED', 'UNKNOWN', 'CONFIRMED'))))
ORDER BY s.lease_until
LIMIT %(limit)s
