-- Purpose: how renewals went in this hour and the last, of all nodes. Takes no locks.
SELECT m.what, m.bucket, sum(m.count) FROM runs_leasemeasure m
WHERE m.hour >= date_trunc('hour', clock_timestamp()) - interval '1 hour' AND m.what <> 'pause'
GROUP BY m.what, m.bucket
