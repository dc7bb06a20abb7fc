-- Purpose: lock the runs of a commit in id order (the lock order of the house), and read what the commit needs of them.
-- The runs are said again inside: else the planner may hash the live steps of everybody at every commit.
-- Who wins: commits of one run queue here; everything after is decided on what this statement returns.
SELECT r.id, r.tenant_id, r.status, r.version, r.epoch, r.event_seq, r.event_hash, r.steps_ended, r.summarised,
       r.agent, r.agent_version, r.lineage, r.submitter_id, r.goal, r.contracts::text, r.budget::text, r.spent::text,
       r.waiting_on, clock_timestamp(),
       EXISTS (SELECT 1 FROM runs_step s WHERE s.run_id = r.id AND s.run_id = ANY (%(runs)s) AND s.held AND s.status IN
            ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN')) AS has_held,
       r.takeover, r.last_event_at, r.deadline, r.failure::text, r.restored,
       EXISTS (SELECT 1 FROM tools_stopswitch w WHERE w.tenant_id = r.tenant_id AND w.lifted_at IS NULL
                 AND w.tool_id IS NULL AND (w.run_id IS NULL OR w.run_id = r.id)) AS stopped,
       ARRAY(SELECT t.name FROM tools_tool t WHERE t.tenant_id = r.tenant_id AND t.paused_at IS NOT NULL
             UNION ALL
             SELECT t.name FROM tools_stopswitch w JOIN tools_tool t ON t.id = w.tool_id
             WHERE w.tenant_id = r.tenant_id AND w.lifted_at IS NULL) AS stopped_tools
FROM runs_run r
WHERE r.id = ANY (%(runs)s)
ORDER BY r.id
FOR NO KEY UPDATE
