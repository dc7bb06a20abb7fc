-- Purpose: checkpoints of runs whose lock is held, made from the rows as this transaction leaves them (S5): large values
-- and results by reference. A run whose summary did not change takes over that of its newest sound checkpoint.
-- The digest covers what is stored, in the words in which it is stored: `run_contexts` makes it again on load.
INSERT INTO runs_checkpoint (tenant_id, run_id, version, phase, summarised, summary, state, digest, created_at)
SELECT r.tenant_id, r.id, r.version, r.phase, made.summarised, made.summary, made.state,
    encode(sha256(convert_to(concat_ws(E'\n', r.id, r.version, made.summarised, made.summary, made.state), 'UTF8')), 'hex'),
    clock_timestamp()
FROM jsonb_to_recordset(%(checkpoints)s::text::jsonb) AS c(run uuid, summarised int, summary jsonb, versions jsonb)
CROSS JOIN LATERAL (SELECT * FROM runs_run r WHERE r.id = c.run LIMIT 1) r
LEFT JOIN LATERAL (
    SELECT b.summarised, b.summary
    FROM runs_checkpoint b
    WHERE c.summary IS NULL AND b.run_id = r.id AND b.digest = encode(sha256(convert_to(
        concat_ws(E'\n', b.run_id, b.version, b.summarised, b.summary, b.state), 'UTF8')), 'hex')
    ORDER BY b.version DESC LIMIT 1) before ON true
CROSS JOIN LATERAL (
    SELECT CASE WHEN c.summary IS NULL THEN COALESCE(before.summarised, 0) ELSE c.summarised END AS summarised,
        COALESCE(c.summary, before.summary, '{}'::jsonb) AS summary) folded
CROSS JOIN LATERAL (
    SELECT folded.summarised, folded.summary, jsonb_build_object(
        'status', r.status, 'epoch', r.epoch, 'ended', r.steps_ended, 'waiting_on', r.waiting_on,
        'input', r.input_digest, 'budget', r.budget, 'spent', r.spent,
        'versions', c.versions || jsonb_build_object('code', r.agent_digest, 'tools', md5(r.contracts::text)),
        'event', encode(r.event_hash, 'hex'),
        'next', CASE r.status WHEN 'WAITING_APPROVAL' THEN '["decide", "signal", "cancel"]'::jsonb
                              WHEN 'WAITING_EXTERNAL' THEN '["signal", "cancel"]'::jsonb
                              WHEN 'CANCEL_REQUESTED' THEN '["settle"]'::jsonb
                              ELSE '["call", "ask", "wait", "finish", "fail", "cancel"]'::jsonb END,
        'results', COALESCE((
            SELECT jsonb_agg(jsonb_build_array(s.key, s.status, s.id) ORDER BY s.ended_seq)
            FROM runs_step s WHERE s.run_id = r.id AND s.ended_seq > folded.summarised), '[]'::jsonb),
        'live', COALESCE((
            SELECT jsonb_agg(jsonb_build_array(s.key, s.status, s.id) ORDER BY s.seq)
            FROM runs_step s WHERE s.run_id = r.id AND s.kind <> 'plan'
              AND s.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN')), '[]'::jsonb),
        'asked', COALESCE((
            SELECT jsonb_agg(jsonb_build_array(a.kind, a.status, a.id) ORDER BY a.id)
            FROM approvals_pendingaction a WHERE a.run_id = r.id AND a.status IN ('OPEN', 'APPROVED')), '[]'::jsonb),
        'artifacts', COALESCE((
            SELECT jsonb_agg(a.sha256 ORDER BY a.id)
            FROM runs_artifact a WHERE a.run_id = r.id AND NOT a.quarantined), '[]'::jsonb)) AS state) made
ON CONFLICT (run_id, version) DO NOTHING
