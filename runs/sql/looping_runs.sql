-- Purpose: RUNNING runs that go round without progress: among the last 2 × `most` ended steps, `most` with the same tool,
-- the same arguments and the same result. What ended before a person last answered a takeover does not count again.
-- Results are only read where tool and arguments repeat. With `only` it is asked again under the run's lock.
SELECT r.id, repeated.step, repeated.tool, repeated.times
FROM runs_run r
JOIN jsonb_to_recordset(%(limits)s::text::jsonb) AS agents(agent text, most int) ON agents.agent = r.agent
CROSS JOIN LATERAL (
    SELECT (array_agg(same.id ORDER BY same.ended_seq DESC))[1] AS step, same.tool, count(*) AS times
    FROM (
        SELECT s.id, s.tool, s.input_digest, s.status, s.error_code, s.output, s.ended_seq,
               count(*) OVER (PARTITION BY s.tool, s.input_digest) AS alike
        FROM runs_step s
        WHERE s.run_id = r.id AND s.ended_seq > r.steps_ended - 2 * agents.most AND s.kind IN ('call', 'model')
          AND s.finished_at > COALESCE((SELECT max(a.decided_at) FROM approvals_pendingaction a
                                        WHERE a.run_id = r.id AND a.kind = 'take_over'), '-infinity')) same
    WHERE same.alike >= agents.most
    GROUP BY same.tool, same.input_digest, same.status, same.error_code, md5(same.output::text)
    HAVING count(*) >= (SELECT agents.most)
    LIMIT 1) repeated
WHERE NOT r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND r.status = 'RUNNING' AND r.takeover IS NULL
  AND (%(only)s::uuid IS NULL OR r.id = %(only)s) AND r.steps_ended >= agents.most
LIMIT %(limit)s
