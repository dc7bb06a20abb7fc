-- Purpose: how long ago the history was last counted, in seconds. Takes no locks.
SELECT EXTRACT(EPOCH FROM clock_timestamp() - m.at)::double precision FROM runs_tallymark m WHERE m.id = 1 AND m.at IS NOT NULL
