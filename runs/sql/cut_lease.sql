-- Purpose: end a lease `seconds` from now. Who wins: the newest fence; an owner that renews meanwhile only finds its lease
-- shorter. Zero rows: it is not that lease any more. Joins a transaction that holds the run.
UPDATE runs_step
SET lease_until = LEAST(lease_until, clock_timestamp() + %(seconds)s * interval '1 second')
WHERE id = %(step)s AND fence = %(fence)s AND status = 'RUNNING'
RETURNING id
