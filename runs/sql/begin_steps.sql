-- Purpose: which of the steps whose children ask to begin this worker still holds (the guard of L1; the epoch of the run is
-- compared by the caller, who holds the run), and for how many seconds.
-- Lock order: the runs are locked; steps in id order.
SELECT s.id, EXTRACT(EPOCH FROM s.lease_until - clock_timestamp())::float8
FROM runs_step s
JOIN jsonb_to_recordset(%(asked)s::text::jsonb) AS f(id uuid, fence bigint, epoch int)
  ON s.id = f.id AND s.fence = f.fence AND s.epoch = f.epoch
WHERE s.id = ANY (%(steps)s) AND s.owner_id = %(worker)s AND s.status = 'RUNNING' AND s.lease_until > clock_timestamp()
ORDER BY s.id
FOR NO KEY UPDATE OF s
