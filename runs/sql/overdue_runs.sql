-- Purpose: live runs that no person holds and whose deadline has passed or whose working time is used up. Only a look: the
-- verb that follows locks the run and asks again, so two sweeps open one takeover.
-- The first condition is that of the index run_live_of_tenant, word for word: ended runs cost nothing.
SELECT r.id
FROM runs_run r
WHERE NOT r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
  AND r.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL') AND r.takeover IS NULL
  AND (r.deadline <= clock_timestamp()
       OR (r.budget ? 'wall_seconds'
           AND COALESCE((r.spent ->> 'wall_seconds')::numeric, 0)
               + CASE WHEN r.status = 'RUNNING' THEN EXTRACT(EPOCH FROM clock_timestamp() - r.last_event_at) ELSE 0 END
               >= (r.budget ->> 'wall_seconds')::numeric))
LIMIT %(limit)s
