-- Purpose: every step of a run that may still need some of its budget, one row each: to come, under way, waiting or UNKNOWN.
-- Joins a transaction that holds the run; takes no locks. Plans use none.
SELECT s.kind, s.contract_id
FROM runs_step s
WHERE s.run_id = %(run)s AND s.kind <> 'plan'
  AND s.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN')
