-- Purpose: the records before effects, of steps that are inserted in the same transaction. A key that exists already fails
-- the statement: then the plan is carried out alone, where the first intent wins (L9).
INSERT INTO tools_intent (
    id, tenant_id, key, run_id, step_id, tool_id, contract_id, arguments, target, resource, request_digest, verdict, drift,
    status, epoch, fence, dispatches, reference, evidence, settled)
SELECT n.id, n.tenant, n.key, n.run, n.step, n.tool, n.contract, n.arguments, n.target, n.resource, n.digest, n.verdict, '[]',
    n.status, n.epoch, 0, 0, '', '[]', ''
FROM jsonb_to_recordset(%(intents)s::text::jsonb) AS n(
    id uuid, tenant uuid, key text, run uuid, step uuid, tool uuid, contract uuid, arguments jsonb, target text, resource text,
    digest text, verdict jsonb, status text, epoch int)
