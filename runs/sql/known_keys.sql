-- Purpose: which of the planned keys their runs have already. Joins a transaction that holds the runs. Takes no locks.
SELECT s.run_id, s.key, s.input_digest
FROM jsonb_to_recordset(%(keys)s::text::jsonb) AS k(run uuid, key text)
JOIN runs_step s ON s.run_id = k.run AND s.key = k.key
