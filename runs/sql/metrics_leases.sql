-- Purpose: leases held now, what is left of them, and steps at which a former owner may still be at work. Takes no locks;
-- reads the running steps and the table of lost leases, which holds only those of owners that are not proven gone.
WITH held AS MATERIALIZED (
    SELECT s.id, s.owner_id, EXTRACT(EPOCH FROM s.lease_until - clock_timestamp())::double precision AS seconds
    FROM runs_step s WHERE s.status = 'RUNNING'),
several AS (
    SELECT h.id, 1 + count(DISTINCT l.worker_id) AS executors
    FROM runs_lostlease l
    JOIN held h ON h.id = l.step_id
    JOIN tools_workerprocess w ON w.id = l.worker_id AND w.stopped_at IS NULL AND w.id <> h.owner_id
    GROUP BY h.id)
SELECT (SELECT count(*) FROM held),
       (SELECT percentile_cont(ARRAY[0.01, 0.5, 0.95, 1.0]) WITHIN GROUP (ORDER BY seconds) FROM held),
       COALESCE((SELECT max(executors) FROM several), LEAST(1, (SELECT count(*) FROM held))),
       (SELECT count(*) FROM several)
