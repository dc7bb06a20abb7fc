-- Purpose: held steps that can never start, because what they need has ended otherwise.
SELECT s.id, s.run_id, s.key
FROM runs_step s
WHERE s.run_id = ANY (%(runs)s) AND s.held AND s.status = 'PENDING'
  AND EXISTS (
    SELECT 1 FROM runs_stepdependency d JOIN runs_step n ON n.id = d.needs_id
    WHERE d.step_id = s.id AND d.rule = 'succeeded' AND n.status IN ('FAILED', 'SKIPPED', 'CANCELLED'))
