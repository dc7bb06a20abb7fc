-- Purpose: what new steps wait for, by key within their run. Joins a transaction that holds the runs.
INSERT INTO runs_stepdependency (step_id, needs_id, rule)
SELECT w.step, n.id, w.rule
FROM jsonb_to_recordset(%(wants)s::text::jsonb) AS w(step uuid, run uuid, key text, rule text)
JOIN runs_step n ON n.run_id = w.run AND n.key = w.key
ON CONFLICT (step_id, needs_id) DO NOTHING
