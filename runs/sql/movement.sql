-- Purpose: how long the oldest claimable step has been ready, and how long ago any worker last claimed. Takes no locks;
-- the first answer comes from the index step_claimable. Last: how long ago a living node was last rung through the broker, and
-- how long the longest-living of them has been there to be rung.
SELECT
    (SELECT EXTRACT(EPOCH FROM clock_timestamp() - min(s.not_before))
     FROM runs_step s JOIN runs_run r ON r.id = s.run_id
     WHERE s.status = 'PENDING' AND NOT s.held AND s.not_before <= clock_timestamp()
       AND r.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'COMPENSATING')
       AND r.takeover IS NULL),
    (SELECT EXTRACT(EPOCH FROM clock_timestamp() - max(w.last_claim_at)) FROM tools_workerprocess w),
    (SELECT EXTRACT(EPOCH FROM clock_timestamp() - max(w.last_bell_at)) FROM tools_workerprocess w
     WHERE w.kind = 'main' AND w.stopped_at IS NULL AND w.last_seen_at > clock_timestamp() - interval '1 minute'),
    (SELECT EXTRACT(EPOCH FROM clock_timestamp() - min(w.started_at)) FROM tools_workerprocess w
     WHERE w.kind = 'main' AND w.stopped_at IS NULL AND w.last_seen_at > clock_timestamp() - interval '1 minute')
