-- Purpose: a step that cannot start any more. Joins a transaction that holds the run.
UPDATE runs_step SET status = 'CANCELLED', held = false, finished_at = clock_timestamp(), ended_seq = %(ended_seq)s,
    error_code = 'dependency_not_met'
WHERE id = %(step)s AND status = 'PENDING'
