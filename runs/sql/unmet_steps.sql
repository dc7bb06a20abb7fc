-- Purpose: held steps that can never start, because what they need has ended otherwise.
SELECT s.run_id, s.id
FROM runs_step s
WHERE s.run_id = ANY (%(runs)s) AND s.held AND s.status IN ('PENDING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL')
  AND EXISTS (
    SELECT 1 FROM runs_stepdependency d JOIN runs_step n ON n.id = d.needs_id
    WHERE d.step_id = s.id AND d.rule = 'succeeded' AND n.status IN ('FAILED', 'SKIPPED', 'CANCELLED'))
ORDER BY s.id
