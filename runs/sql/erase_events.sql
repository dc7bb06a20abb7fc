-- Purpose: put digests in the place of payloads. The trigger event_append_only lets this through, and nothing else, for a
-- run that is marked as erased. Joins a transaction that holds the run.
UPDATE runs_event e SET payload = '{}', erased = decode(d.digest, 'hex')
FROM jsonb_to_recordset(%(events)s::text::jsonb) AS d(sequence bigint, at timestamptz, digest text)
WHERE e.run_id = %(run)s AND e.sequence = d.sequence AND e.at = d.at AND e.erased IS NULL
