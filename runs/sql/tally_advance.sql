-- Purpose: move the mark, in the transaction that counted. Unless there is more below the old one (`same`), the next mark
-- is now, less a margin: a line gets its time a moment before its transaction gets an id, when that waits for a run's lock.
UPDATE runs_tallymark
SET counted = %(counted)s, at = clock_timestamp(),
    ready = CASE WHEN %(same)s THEN ready
                 ELSE GREATEST(%(counted)s, clock_timestamp() - %(margin)s * interval '1 second') END,
    horizon = CASE WHEN %(same)s THEN horizon ELSE pg_snapshot_xmax(pg_current_snapshot())::text::bigint END
WHERE id = 1
