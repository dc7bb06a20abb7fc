-- Purpose: effects that happened, said by the sender of the current dispatch. Joins a transaction that holds run and step.
-- Who wins: whoever confirms first. An intent that is not under this very dispatch any more fails the statement (a text is
-- no number), and with it the transaction: such a report is recorded alone, with all that may follow from it.
WITH happened AS (
UPDATE tools_intent i
SET status = %(target)s, answer = f.answer, reference = f.reference, ended_at = statement_timestamp(), settled = ''
FROM jsonb_to_recordset(%(rows)s::text::jsonb) AS f(id uuid, dispatch uuid, answer jsonb, reference text)
WHERE i.id = f.id AND i.id = ANY (%(ids)s) AND i.status = %(source)s AND i.dispatch_id = f.dispatch
RETURNING i.id)
SELECT CASE WHEN count(*) = cardinality(%(ids)s) THEN count(*)
            ELSE ('an effect was settled meanwhile: ' || count(*) || ' of ' || cardinality(%(ids)s) || ' written')::bigint END
FROM happened
