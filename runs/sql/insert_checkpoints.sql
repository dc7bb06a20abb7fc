-- Purpose: checkpoints of runs whose lock is held.
INSERT INTO runs_checkpoint (tenant_id, run_id, version, phase, state, digest, created_at)
SELECT c.tenant, c.run, c.version, c.phase, c.state, c.digest, clock_timestamp()
FROM jsonb_to_recordset(%(checkpoints)s::text::jsonb) AS c(
    tenant uuid, run uuid, version bigint, phase text, state jsonb, digest text)
ON CONFLICT (run_id, version) DO NOTHING
