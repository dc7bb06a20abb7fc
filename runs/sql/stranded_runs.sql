-- Purpose: runs with a step that has been claimable for `grace` seconds while nodes live, but none of them has the code of
-- the run's agent (B30). A node that has not told its agents is taken to have all. Only a look, unless `run` names one
-- whose lock is held: then it is the check under the lock.
SELECT DISTINCT r.id
FROM runs_step s JOIN runs_run r ON r.id = s.run_id
WHERE s.status = 'PENDING' AND NOT s.held AND s.not_before <= now() - %(grace)s * interval '1 second'
  AND r.status IN ('PENDING', 'RUNNING') AND r.takeover IS NULL
  AND (%(run)s::uuid IS NULL OR r.id = %(run)s)
  AND EXISTS (SELECT 1 FROM tools_workerprocess w
              WHERE w.kind = 'main' AND w.stopped_at IS NULL AND w.last_seen_at > now() - %(silent)s * interval '1 second')
  AND NOT EXISTS (SELECT 1 FROM tools_workerprocess w
                  WHERE w.kind = 'main' AND w.stopped_at IS NULL AND w.last_seen_at > now() - %(silent)s * interval '1 second'
                    AND (w.agents = '{}' OR r.agent_digest = ANY (w.agents)))
LIMIT %(limit)s
