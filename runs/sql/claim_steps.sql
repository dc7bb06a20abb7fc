-- Purpose: take a lease and a new fence token on up to `free` claimable steps of each pool (L2).
-- Who wins: whoever locks the row first; SKIP LOCKED, so nobody waits and lock order cannot matter.
-- Zero rows: there is nothing to do, or others were faster.
WITH ready AS MATERIALIZED (
    SELECT found.id
    FROM jsonb_to_recordset(%(room)s::text::jsonb) AS room(pool text, free int),
    LATERAL (
        SELECT s.id
        FROM runs_step s JOIN runs_run r ON r.id = s.run_id
        WHERE s.status = 'PENDING' AND NOT s.held AND s.pool = room.pool AND s.not_before <= now()
          AND r.status = ANY (%(claimable)s) AND (r.status <> 'COMPENSATING' OR s.kind = 'undo')
          AND r.agent_digest = ANY (%(digests)s) AND r.takeover IS NULL
        ORDER BY s.not_before, s.id
        LIMIT room.free
        FOR UPDATE OF s SKIP LOCKED) found)
UPDATE runs_step s
SET status = 'RUNNING', attempt = s.attempt + 1, fence = nextval('fence'), owner_id = %(worker)s,
    started_at = clock_timestamp(), lease_until = clock_timestamp() + %(lease)s * interval '1 second'
WHERE s.id = ANY (ARRAY(SELECT ready.id FROM ready)) AND s.status = 'PENDING'
RETURNING s.id, s.run_id, s.tenant_id, s.key, s.kind, s.tool, s.pool, s.attempt, s.failures, s.losses, s.epoch,
          s.fence, s.timeout_seconds, s.input::text, s.intent_id, s.contract_id
