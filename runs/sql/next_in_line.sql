-- Purpose: for each resource that is free, the step that has waited for it the longest. Free: no other effect under way on it
-- (or of unknown outcome) that keeps the order together with this one, as begin asks (`tools.fences.enter`). Only a look:
-- what follows locks run and step, and begin asks again.
SELECT first.run_id, first.id
FROM (
    SELECT DISTINCT ON (i.tenant_id, i.resource) s.run_id, s.id, s.not_before
    FROM runs_step s
    JOIN runs_run r ON r.id = s.run_id
    JOIN tools_intent i ON i.id = s.intent_id
    JOIN tools_contract c ON c.id = i.contract_id
    WHERE s.status = 'WAITING_EXTERNAL' AND s.error_code = %(code)s AND i.status IN ('AUTHORISED', 'UNKNOWN')
      AND r.takeover IS NULL
      AND NOT EXISTS (
        SELECT 1 FROM tools_intent o JOIN tools_contract oc ON oc.id = o.contract_id
        WHERE o.tenant_id = i.tenant_id AND o.resource = i.resource AND o.resource <> ''
          AND o.status IN ('DISPATCHED', 'UNKNOWN') AND o.id <> i.id
          AND (c.fence_rule = 'strict' OR oc.fence_rule = 'strict'))
    ORDER BY i.tenant_id, i.resource, s.not_before, s.id) first
ORDER BY first.not_before
LIMIT %(limit)s
