-- Purpose: RUNNING runs with no event for `silent` seconds of which nothing is under way: no step under a running lease
-- (whoever renews is alive, however long it takes: B38) and none that waits for a free worker. Only a look: with `only` it
-- is asked again under the run's lock.
SELECT r.id
FROM runs_run r
WHERE NOT r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND r.status = 'RUNNING' AND r.takeover IS NULL
  AND (%(only)s::uuid IS NULL OR r.id = %(only)s)
  AND r.last_event_at < clock_timestamp() - %(silent)s * interval '1 second'
  AND NOT EXISTS (
    SELECT 1 FROM runs_step s
    WHERE s.run_id = r.id
      AND s.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN')
      AND ((s.status = 'RUNNING' AND s.lease_until > clock_timestamp()) OR (s.status = 'PENDING' AND NOT s.held)))
ORDER BY r.last_event_at
LIMIT %(limit)s
