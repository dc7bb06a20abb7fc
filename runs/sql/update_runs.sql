-- Purpose: the new head of each run. Compares the version read under the lock; fewer rows than runs means that the lock
-- was not held: the cast of a text that is no number then fails the statement, and with it the transaction. So nobody has
-- to read the answer before COMMIT is sent.
WITH moved AS (
UPDATE runs_run r
SET version = u.version + 1, status = u.status, event_seq = u.event_seq, event_hash = decode(u.event_hash, 'hex'),
    steps_ended = u.steps_ended, summarised = u.summarised,
    spent = u.spent, phase = COALESCE(u.phase, r.phase),
    waiting_on = u.waiting_on,
    waiting_since = CASE WHEN u.waiting_on = '' THEN NULL
                         WHEN r.waiting_since IS NOT NULL AND r.status = u.status THEN r.waiting_since
                         ELSE u.at END,
    result = COALESCE(u.result, r.result), failure = COALESCE(u.failure, r.failure),
    epoch = u.epoch, restored = u.restored, last_event_at = u.at, takeover = u.takeover,
    budget = COALESCE(u.budget, r.budget), deadline = COALESCE(u.deadline, r.deadline),
    finished_at = CASE WHEN u.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') THEN u.at END
FROM jsonb_to_recordset(%(runs)s::text::jsonb) AS u(
    id uuid, version bigint, status text, event_seq bigint, event_hash text, steps_ended int, summarised int,
    spent jsonb, phase text, waiting_on text, result jsonb, failure jsonb, epoch int, restored int, at timestamptz,
    takeover uuid, budget jsonb, deadline timestamptz)
WHERE r.id = u.id AND r.id = ANY (%(ids)s) AND r.version = u.version
RETURNING r.id)
SELECT CASE WHEN count(*) = cardinality(%(ids)s) THEN count(*)
            ELSE ('a run changed under its lock: ' || count(*) || ' of ' || cardinality(%(ids)s) || ' written')::bigint END
FROM moved
