-- Purpose: after an error at COMMIT, what really happened to the steps under commit (B44). Takes no locks.
SELECT s.id, s.fence, s.status, s.owner_id
FROM runs_step s
WHERE s.id = ANY (%(steps)s)
