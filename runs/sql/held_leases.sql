-- Purpose: what became of steps that a worker believes to hold: whether each is still its own under that fence, and whether
-- its run wants to stop. Takes no locks.
SELECT s.id, lease.fence,
       s.fence = lease.fence AND s.owner_id = %(worker)s AND s.status = 'RUNNING'
           AND s.lease_until > clock_timestamp() AS held,
       r.status IN ('CANCEL_REQUESTED', 'SUCCEEDED', 'FAILED', 'CANCELLED') AS stopping
FROM jsonb_to_recordset(%(leases)s::text::jsonb) AS lease(id uuid, fence bigint)
CROSS JOIN LATERAL (SELECT * FROM runs_step s WHERE s.id = lease.id LIMIT 1) s
CROSS JOIN LATERAL (SELECT r.status FROM runs_run r WHERE r.id = s.run_id LIMIT 1) r
