-- Purpose: of steps that were taken back: count how long it took from the last sign of the old worker to the next claim,
-- and forget those whose old worker is known to be gone, because nobody else can still be at them; after a day, all.
WITH claimed AS (
    UPDATE runs_lostlease l SET claimed_at = s.started_at
    FROM runs_step s
    WHERE s.id = l.step_id AND l.claimed_at IS NULL AND s.fence > l.fence AND s.started_at > l.seen_at
    RETURNING GREATEST(0, EXTRACT(EPOCH FROM s.started_at - l.seen_at))::double precision AS seconds),
counted AS (
    INSERT INTO runs_tally AS t (name, labels, value)
    SELECT 'recovery_seconds', bucket::text, count(*)
    FROM (SELECT width_bucket(seconds, %(bounds)s::double precision[]) AS bucket FROM claimed) AS b GROUP BY bucket
    UNION ALL SELECT 'recovery_seconds', '-1', sum(seconds)::numeric FROM claimed HAVING count(*) > 0
    ORDER BY 1, 2
    ON CONFLICT (name, labels) DO UPDATE SET value = t.value + excluded.value)
DELETE FROM runs_lostlease l
USING tools_workerprocess w
WHERE w.id = l.worker_id
  AND ((l.claimed_at IS NOT NULL AND w.stopped_at IS NOT NULL) OR l.seen_at < now() - interval '1 day')
