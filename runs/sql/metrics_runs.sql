-- Purpose: runs that have not ended, by state, and quantiles (half, 95 of 100, all) of how long they have been in it. Takes
-- no locks; at most 10,000 runs of a state give ages.
SELECT states.status, live.number, aged.ages
FROM unnest(ARRAY['PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'PAUSED', 'CANCEL_REQUESTED', 'COMPENSATING'])
    AS states(status)
LEFT JOIN LATERAL (
    SELECT percentile_cont(ARRAY[0.5, 0.95, 1.0]) WITHIN GROUP (ORDER BY aging.age) AS ages
    FROM (SELECT EXTRACT(EPOCH FROM clock_timestamp() - CASE r.status
                WHEN 'PENDING' THEN r.created_at WHEN 'RUNNING' THEN r.last_event_at
                WHEN 'CANCEL_REQUESTED' THEN r.cancel_requested_at
                ELSE COALESCE(r.waiting_since, r.last_event_at) END)::double precision AS age
          FROM runs_run r
          WHERE r.status = states.status AND r.status NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
          LIMIT 10000) AS aging) AS aged ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS number FROM runs_run r
    WHERE r.status = states.status AND r.status NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')) AS live ON true
