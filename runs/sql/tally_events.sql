-- Purpose: count the lines of history of the time (after, upto] into the tallies. Joins the transaction that moves the mark.
-- Labels hold words of the engine alone. Histograms: bucket number, and `-1` for the sum.
-- Cost: one look at each event, by the block range index event_time; one look at the run of each that ended one.
WITH seen AS MATERIALIZED (
    SELECT e.type, e.run_id,
        CASE WHEN e.payload->>'key' LIKE 'plan/%%' THEN 'plan' WHEN e.payload->>'key' LIKE 'remake/%%' THEN 'remake'
             WHEN e.payload->>'key' LIKE 'undo/%%' THEN 'undo' WHEN e.payload->>'key' LIKE 'query/%%' THEN 'query' WHEN e.payload ? 'effect' THEN 'effect' ELSE 'call' END AS kind,
        (e.payload->>'ms')::double precision / 1000 AS seconds,
        substring(e.payload->>'code' FROM '^[a-z_]{1,40}$') AS code
    FROM runs_event e
    WHERE e.at > %(after)s AND e.at <= %(upto)s),
over AS MATERIALIZED (
    SELECT lower(r.status) AS status, r.spent,
        EXTRACT(EPOCH FROM r.finished_at - r.created_at)::double precision AS lasted,
        EXTRACT(EPOCH FROM r.finished_at - r.cancel_requested_at)::double precision AS cancelled
    FROM seen JOIN runs_run r ON r.id = seen.run_id
    WHERE seen.type IN ('run.succeeded', 'run.failed', 'run.cancelled')),
found (name, labels, value) AS (
    SELECT 'steps_ended', kind || '|' || substr(type, 6), count(*)::numeric FROM seen
    WHERE type IN ('step.succeeded', 'step.failed', 'step.cancelled', 'step.skipped') GROUP BY 2
    UNION ALL
    SELECT 'steps_given_back', kind || '|' || substr(type, 6), count(*) FROM seen
    WHERE type IN ('step.retried', 'step.lost', 'step.drained', 'step.waiting', 'step.revoked', 'step.stood_in',
                   'step.over_quota', 'step.in_line') GROUP BY 2
    UNION ALL
    SELECT 'step_seconds', kind || '|' || width_bucket(seconds, %(step)s::double precision[]), count(*) FROM seen
    WHERE type IN ('step.succeeded', 'step.failed') AND seconds IS NOT NULL GROUP BY 2
    UNION ALL
    SELECT 'step_seconds', kind || '|-1', sum(seconds)::numeric FROM seen
    WHERE type IN ('step.succeeded', 'step.failed') AND seconds IS NOT NULL GROUP BY 2
    UNION ALL
    SELECT 'effects_unknown', '', count(*) FROM seen WHERE type = 'step.unknown'
    UNION ALL
    SELECT 'effects_requested', '', count(*) FROM seen WHERE type = 'step.sending'
    UNION ALL
    SELECT 'takeovers', COALESCE(code, 'other'), count(*) FROM seen WHERE type = 'run.taken_over' GROUP BY 2
    UNION ALL
    SELECT 'runs_submitted', '', count(*) FROM seen WHERE type = 'run.submitted'
    UNION ALL
    SELECT 'runs_ended', status, count(*) FROM over GROUP BY 2
    UNION ALL
    SELECT 'run_seconds', status || '|' || width_bucket(lasted, %(long)s::double precision[]), count(*) FROM over GROUP BY 2
    UNION ALL
    SELECT 'run_seconds', status || '|-1', sum(lasted)::numeric FROM over GROUP BY 2
    UNION ALL
    SELECT 'cancel_seconds', width_bucket(cancelled, %(short)s::double precision[])::text, count(*) FROM over
    WHERE status = 'cancelled' AND cancelled IS NOT NULL GROUP BY 2
    UNION ALL
    SELECT 'cancel_seconds', '-1', sum(cancelled)::numeric FROM over WHERE status = 'cancelled' AND cancelled IS NOT NULL
    UNION ALL
    SELECT 'run_spent', spent.key, sum(spent.value::numeric) FROM over, jsonb_each_text(over.spent) AS spent
    WHERE spent.key IN ('tool_calls', 'model_calls', 'tokens', 'cost', 'steps', 'wall_seconds')
      AND spent.value ~ '^[0-9]+([.][0-9]+)?$' GROUP BY 2)
INSERT INTO runs_tally AS t (name, labels, value)
SELECT found.name, found.labels, found.value FROM found WHERE found.value <> 0 ORDER BY found.name, found.labels
ON CONFLICT (name, labels) DO UPDATE SET value = t.value + excluded.value
