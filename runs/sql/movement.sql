-- Purpose: how long the oldest claimable step has been ready, and how long ago any worker last claimed. Takes no locks;
-- the first answer comes from the index step_claimable.
SELECT
    (SELECT EXTRACT(EPOCH FROM clock_timestamp() - min(s.not_before))
     FROM runs_step s JOIN runs_run r ON r.id = s.run_id
     WHERE s.status = 'PENDING' AND NOT s.held AND s.not_before <= clock_timestamp()
       AND r.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'COMPENSATING')
       AND r.takeover IS NULL),
    (SELECT EXTRACT(EPOCH FROM clock_timestamp() - max(w.last_claim_at)) FROM tools_workerprocess w)
