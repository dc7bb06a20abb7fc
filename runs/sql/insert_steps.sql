-- Purpose: the next steps. Those with an owner are inserted already claimed (the node goes on with them at once).
INSERT INTO runs_step (
    id, run_id, tenant_id, key, seq, kind, title, tool, contract_id, pool, status, held, attempt, failures, losses,
    epoch, owner_id, lease_until, fence, not_before, deadline, timeout_seconds, input, input_digest, output,
    error_code,
    error_text, intent_id, waiting_on, tokens, cost, ended_seq, created_at, started_at, finished_at)
SELECT n.id, n.run, n.tenant, n.key, n.seq, n.kind, n.title, n.tool, n.contract, n.pool, n.status, n.held,
    CASE WHEN n.status = 'RUNNING' THEN 1 ELSE 0 END, 0, 0, 1,
    CASE WHEN n.status = 'RUNNING' THEN %(worker)s::uuid END,
    CASE WHEN n.status = 'RUNNING' THEN clock_timestamp() + %(lease)s * interval '1 second' END,
    CASE WHEN n.status = 'RUNNING' THEN nextval('fence') ELSE 0 END,
    clock_timestamp(), clock_timestamp() + n.wait * interval '1 second', n.timeout, n.input, n.input_digest, n.output,
    n.error_code, n.error_text, n.intent, n.waiting_on,
    0, 0, n.ended_seq, clock_timestamp(),
    CASE WHEN n.status = 'RUNNING' THEN clock_timestamp() END,
    CASE WHEN n.status IN ('SUCCEEDED', 'FAILED', 'SKIPPED', 'CANCELLED') THEN clock_timestamp() END
FROM jsonb_to_recordset(%(steps)s::text::jsonb) AS n(
    id uuid, run uuid, tenant uuid, key text, seq int, kind text, title text, tool text, contract uuid, pool text,
    status text, held boolean, timeout int, input jsonb, input_digest text, error_code text, error_text text,
    intent uuid, waiting_on text, ended_seq int, output jsonb, wait double precision)
RETURNING id, fence
