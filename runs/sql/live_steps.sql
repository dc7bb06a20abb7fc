-- Purpose: what of a run can still move or waits. Joins a transaction that holds the run.
SELECT s.run_id, s.id, s.key, s.kind, s.status, s.held, s.title, s.waiting_on
FROM runs_step s
WHERE s.run_id = ANY (%(runs)s)
  AND s.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN')
ORDER BY s.seq
