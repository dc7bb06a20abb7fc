-- Purpose: raise counters. Lock order: rows by name and labels, after everything else of the transaction.
INSERT INTO runs_tally AS t (name, labels, value)
SELECT n.name, n.labels, n.value
FROM jsonb_to_recordset(%(rows)s::text::jsonb) AS n(name text, labels text, value numeric)
ORDER BY n.name, n.labels
ON CONFLICT (name, labels) DO UPDATE SET value = t.value + excluded.value
