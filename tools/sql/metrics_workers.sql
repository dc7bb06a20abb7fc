-- Purpose: worker processes that are not known to be gone and were heard of in the last minute, and the longest silence of
-- the broker towards one of them. Takes no locks; reads the partial index of living ones.
SELECT kinds.kind, count(w.id),
       max(EXTRACT(EPOCH FROM clock_timestamp() - COALESCE(w.last_bell_at, w.started_at))::double precision)
FROM unnest(ARRAY['main', 'child', 'coordinator']) AS kinds(kind)
LEFT JOIN tools_workerprocess w ON w.kind = kinds.kind AND w.stopped_at IS NULL
    AND (w.kind <> 'main' OR w.last_seen_at > now() - interval '1 minute')
GROUP BY kinds.kind
