-- Purpose: remember steps that were just taken back from a worker, and when it was last heard of. Only those that are
-- really not its own any more under that fence: a sweep that lost the race writes nothing.
INSERT INTO runs_lostlease (step_id, fence, worker_id, why, seen_at)
SELECT lost.step, lost.fence, w.id, %(why)s, w.last_seen_at
FROM jsonb_to_recordset(%(lost)s::text::jsonb) AS lost(step uuid, fence bigint)
JOIN runs_step s ON s.id = lost.step AND (s.status <> 'RUNNING' OR s.fence <> lost.fence)
JOIN tools_workerprocess w ON w.id = %(worker)s
ON CONFLICT (step_id, fence) DO NOTHING
RETURNING step_id
