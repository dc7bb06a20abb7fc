-- Purpose: prolong the leases of this worker that are due, all in one statement (L4).
-- Who wins: the newest fence; owner, fence and expiry are compared here. SKIP LOCKED: a step under commit is locked by an
-- engine thread, and waiting for it in another lock order could deadlock. "Not returned" is therefore not "lost": ask
-- `held_leases`.
-- Lock order: steps in id order, and nothing else.
WITH mine AS (
    SELECT s.id
    FROM runs_step s
    JOIN jsonb_to_recordset(%(leases)s::text::jsonb) AS lease(id uuid, fence bigint)
      ON s.id = lease.id AND s.fence = lease.fence
    WHERE s.owner_id = %(worker)s AND s.status = 'RUNNING' AND s.id = ANY (%(steps)s) AND s.lease_until > clock_timestamp()
    ORDER BY s.id
    FOR NO KEY UPDATE OF s SKIP LOCKED)
UPDATE runs_step s
SET lease_until = clock_timestamp() + %(lease)s * interval '1 second'
WHERE s.id = ANY (ARRAY(SELECT mine.id FROM mine))
RETURNING s.id
