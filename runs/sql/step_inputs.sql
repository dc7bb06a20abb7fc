-- Purpose: the outputs that claimed steps asked for, and a note of the fence under which each was accepted: the commit
-- takes the result only if every input still is (L13). Output and fence are read in one statement, so of one moment. An
-- input that has not ended gets a fence that nothing has: its reader goes back. Joins the transaction of the claim.
WITH read AS (
    SELECT want.step::uuid AS step, s.id, s.key, s.output::text AS output,
           CASE WHEN s.finished_at IS NULL THEN -1 ELSE s.fence END AS fence
    FROM jsonb_to_recordset(%(wants)s::text::jsonb) AS want(step text, run uuid, key text)
    CROSS JOIN LATERAL (SELECT s.id, s.key, s.output, s.fence, s.finished_at FROM runs_step s
                        WHERE s.run_id = want.run AND s.key = want.key LIMIT 1) s),
noted AS (
    UPDATE runs_stepdependency d SET consumed_fence = read.fence
    FROM read WHERE d.step_id = read.step AND d.needs_id = read.id)
SELECT read.step, read.key, read.output FROM read
