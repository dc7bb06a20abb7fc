-- Purpose: the outputs that claimed steps asked for. Takes no locks.
SELECT want.step::uuid, s.key, s.output::text
FROM jsonb_to_recordset(%(wants)s::text::jsonb) AS want(step text, run uuid, key text)
CROSS JOIN LATERAL (SELECT s.key, s.output FROM runs_step s WHERE s.run_id = want.run AND s.key = want.key LIMIT 1) s
