-- Purpose: lock those of some intents that the gate itself authorised. One with a grant is not among them: its action must
-- be locked first.
-- Lock order: runs and steps are locked; intents in id order.
SELECT i.id, i.key, i.contract_id, i.arguments::text, i.request_digest
FROM tools_intent i
WHERE i.id = ANY (%(intents)s) AND i.status = ANY (%(sources)s) AND i."grant" IS NULL
ORDER BY i.id
FOR NO KEY UPDATE
