-- Purpose: lock the resources of effects that have just ended in this transaction, so that no begin can be between its look
-- at them and its own wait (it holds the resource meanwhile), and ring for those in line. Nothing has to be read from it.
-- Lock order: intents are locked; resources in id order.
WITH held AS MATERIALIZED (
    SELECT f.id
    FROM tools_resourcefence f
    WHERE (f.tenant_id, f.resource) IN (
        SELECT i.tenant_id, i.resource FROM tools_intent i WHERE i.id = ANY (%(intents)s) AND i.resource <> '')
    ORDER BY f.id
    FOR NO KEY UPDATE)
SELECT pg_notify(%(channel)s, %(word)s)
FROM (SELECT count(*) AS resources FROM held) counted
WHERE counted.resources > 0
