-- Purpose: damaged artifacts by what was done. A row for each finding, of which there should be none. Takes no locks.
SELECT done.word, (SELECT count(*) FROM runs_damage d WHERE d.done = done.word)
FROM unnest(ARRAY['remaking', 'asked', 'noted']) AS done(word)
