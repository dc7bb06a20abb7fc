-- Purpose: live runs with no holder (a running step), no timer (a step that may be claimed, now or later) and no waiter (an
-- open question, or an answer that is not applied yet), and no event for `grace` seconds (B14). Waiting for a person is
-- never that, however long. Only a look: with `only` it is asked again under the run's lock.
SELECT r.id
FROM runs_run r
WHERE NOT r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND r.status <> 'PAUSED'
  AND (%(only)s::uuid IS NULL OR r.id = %(only)s)
  AND r.last_event_at < clock_timestamp() - %(grace)s * interval '1 second'
  AND NOT EXISTS (
    SELECT 1 FROM approvals_pendingaction a
    WHERE a.run_id = r.id AND a.kind = 'take_over' AND (a.status = 'OPEN' OR a.applied_at IS NULL))
  AND NOT EXISTS (
    SELECT 1 FROM runs_step s
    WHERE s.run_id = r.id
      AND s.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN')
      AND (s.status IN ('RUNNING', 'WAITING_EXTERNAL')
           OR (s.status = 'PENDING' AND NOT s.held
               AND (s.kind = 'query' OR (r.status <> 'CANCEL_REQUESTED' AND r.takeover IS NULL)))
           OR (s.status IN ('WAITING_APPROVAL', 'UNKNOWN')
               AND EXISTS (SELECT 1 FROM approvals_pendingaction a
                           WHERE a.run_id = r.id AND a.step_id = s.id AND (a.status = 'OPEN' OR a.applied_at IS NULL)))))
ORDER BY r.last_event_at
LIMIT %(limit)s
