-- Purpose: a step whose tries are used up goes on with the tool that stands in for its own: same key, same input, tries
-- counted anew. Joins a transaction that holds the run and has just given the step back.
UPDATE runs_step
SET tool = %(tool)s, contract_id = %(contract)s, pool = %(pool)s, timeout_seconds = %(timeout)s,
    failures = 0, deadline = NULL, not_before = clock_timestamp()
WHERE id = %(step)s AND status = 'PENDING'
