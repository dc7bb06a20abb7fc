-- Purpose: what became of steps that a worker believes to hold: whether each is still its own under that fence, and whether
-- its run wants to stop. Takes no locks.
SELECT s.id, lease.fence,
       s.fence = lease.fence AND s.owner_id = %(worker)s AND s.status = 'RUNNING'
           AND s.lease_until > clock_timestamp() AS held,
       r.status IN ('CANCEL_REQUESTED', 'SUCCEEDED', 'FAILED', 'CANCELLED') AS stopping
FROM jsonb_to_recordset(%(leases)s::text::jsonb) AS lease(id uuid, fence bigint)
JOIN runs_step s ON s.id = lease.id
JOIN runs_run r ON r.id = s.run_id
