-- Purpose: how long executions of tools took lately: median and 99th percentile in seconds, over the newest calls that ended
-- in the last hours. Ids grow with time, so the newest are read from the end of the primary key.
SELECT count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY seconds), percentile_disc(0.99) WITHIN GROUP (ORDER BY seconds)
FROM (SELECT extract(epoch FROM s.finished_at - s.started_at)::double precision AS seconds
      FROM runs_step s
      WHERE s.kind IN ('call', 'model') AND s.started_at IS NOT NULL
        AND s.finished_at > clock_timestamp() - %(hours)s * interval '1 hour'
      ORDER BY s.id DESC
      LIMIT 100000) newest
