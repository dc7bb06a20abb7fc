-- Purpose: permission to send, once, for each sender under its fence. Joins a transaction that holds the intents.
-- Who wins: a newer fence. Fewer rows than asked for fail the statement (a text is no number), and with it the transaction.
WITH sent AS (
UPDATE tools_intent i
SET status = %(target)s, sender_id = f.sender, dispatch_id = f.dispatch, fence = f.fence, dispatches = i.dispatches + 1,
    dispatched_at = statement_timestamp(), deadline = statement_timestamp() + f.seconds * interval '1 second',
    sender_done_at = NULL, settled = '', asks = 0, said = '', said_at = NULL,
    compensation_snapshot = COALESCE(i.compensation_snapshot, f.compensation)
FROM jsonb_to_recordset(%(rows)s::text::jsonb) AS f(id uuid, sender uuid, dispatch uuid, fence bigint, seconds float8,
    compensation jsonb)
WHERE i.id = f.id AND i.id = ANY (%(ids)s) AND i.status = ANY (%(sources)s) AND i.fence < f.fence
RETURNING i.id)
SELECT CASE WHEN count(*) = cardinality(%(ids)s) THEN count(*)
            ELSE ('an intent may not be sent: ' || count(*) || ' of ' || cardinality(%(ids)s) || ' written')::bigint END
FROM sent
