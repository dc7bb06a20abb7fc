-- Purpose: keep results that came too late, each once (L6). What is not returned was kept before, or is no late result at
-- all: the step has succeeded under this very fence, so this is the answer to our own commit that got lost.
-- Of a run that retention has erased the digest is kept, not the payload; the lock in which both meet is FOR KEY SHARE, which
-- nothing but the erasure waits for.
-- Who wins: whoever comes first under a fence; nothing is ever overwritten.
INSERT INTO runs_quarantined (id, tenant_id, run_id, step_id, run_epoch, epoch, fence, attempt, worker_id, ending, output,
                              output_digest, error_code, error_text, run_status, terminal, received_at)
SELECT q.id, s.tenant_id, s.run_id, s.id, q.run_epoch, q.epoch, q.fence, q.attempt, q.worker, q.ending,
       CASE WHEN r.erased_at IS NULL THEN q.output END,
       q.output_digest, q.error_code,
       CASE WHEN r.erased_at IS NULL THEN q.error_text ELSE '' END, r.status, r.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED'),
       clock_timestamp()
FROM jsonb_to_recordset(%(late)s::text::jsonb) AS q(
         id uuid, step uuid, run_epoch int, epoch int, fence bigint, attempt int, worker uuid, ending text, output jsonb,
         output_digest text, error_code text, error_text text)
JOIN runs_step s ON s.id = q.step
JOIN runs_run r ON r.id = s.run_id
WHERE NOT (s.fence = q.fence AND s.epoch = q.epoch AND s.status = 'SUCCEEDED')
FOR KEY SHARE OF r
ON CONFLICT (step_id, fence) DO NOTHING
RETURNING step_id, fence, run_status, terminal
