-- Purpose: which of the keys that plans speak of their runs have already, with state. Joins a transaction that holds the
-- runs. Takes no locks.
-- LATERAL with LIMIT: one look into the index per key, whatever the plan believes of the table.
SELECT s.run_id, s.key, s.input_digest, s.status
FROM jsonb_to_recordset(%(keys)s::text::jsonb) AS k(run uuid, key text),
LATERAL (SELECT s.run_id, s.key, s.input_digest, s.status FROM runs_step s WHERE s.run_id = k.run AND s.key = k.key
         LIMIT 1) s
