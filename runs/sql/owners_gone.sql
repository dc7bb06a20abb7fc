-- Purpose: workers that are proven gone while steps still name them as their owner. Only a look: release compares again.
SELECT DISTINCT s.owner_id
FROM runs_step s
CROSS JOIN LATERAL (
    SELECT 1 FROM tools_workerprocess w WHERE w.id = s.owner_id AND w.stopped_at IS NOT NULL LIMIT 1) gone
WHERE s.status = 'RUNNING'
LIMIT %(limit)s
