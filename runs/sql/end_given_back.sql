-- Purpose: a step that was just given back will not run again after all: its tries are used up, or its run is being
-- cancelled. Joins a transaction that holds the run and has written the step.
UPDATE runs_step
SET status = %(status)s, held = false, finished_at = clock_timestamp(), ended_seq = %(ended_seq)s
WHERE id = %(step)s AND status = 'PENDING'
