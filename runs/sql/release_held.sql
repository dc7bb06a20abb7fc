-- Purpose: steps whose dependencies are now all met may start (or, while a person is asked about them, as soon as the
-- answer is there). Readiness is derived from the rows, under the run's lock.
UPDATE runs_step s SET held = false, not_before = clock_timestamp()
WHERE s.run_id = ANY (%(runs)s) AND s.held AND s.status IN ('PENDING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL')
  AND NOT EXISTS (
    SELECT 1 FROM runs_stepdependency d JOIN runs_step n ON n.id = d.needs_id
    WHERE d.step_id = s.id
      AND NOT (n.status = 'SUCCEEDED'
               OR (d.rule = 'ended' AND n.status IN ('FAILED', 'SKIPPED', 'CANCELLED'))))
RETURNING s.run_id, s.status
