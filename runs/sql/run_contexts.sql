-- Purpose: what the agent of each run may decide from, and the version it belongs to, read in one statement so that
-- both are of one moment: the summary of the newest sound checkpoint, and in full the steps that ended after it (S6).
-- A checkpoint whose digest does not match what is stored is passed over; `unsound` names its version. Takes no locks.
SELECT r.id, r.version, r.agent, r.agent_version,
    jsonb_build_object(
        'goal', r.goal, 'input', r.input, 'summary', COALESCE(c.summary, '{}'::jsonb), 'ended', r.steps_ended,
        'summarised', COALESCE(c.summarised, 0), 'code', r.agent_digest,
        'today', to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
        'unsound', COALESCE((
            SELECT jsonb_agg(x.version ORDER BY x.version)
            FROM runs_checkpoint x WHERE x.run_id = r.id AND x.version > COALESCE(c.version, -1)), '[]'::jsonb),
        'recent', COALESCE((
            SELECT jsonb_agg(jsonb_build_object(
                'key', s.key, 'kind', s.kind, 'tool', s.tool,
                'status', CASE WHEN s.input ? 'left_out' THEN 'SKIPPED' ELSE s.status END, 'output', s.output,
                'error_code', s.error_code, 'error_text', s.error_text,
                'edited', CASE WHEN s.input ? 'edited' THEN s.input -> 'arguments' END) ORDER BY s.ended_seq)
            FROM runs_step s WHERE s.run_id = r.id AND s.ended_seq > COALESCE(c.summarised, 0)), '[]'::jsonb),
        'live', COALESCE((
            SELECT jsonb_agg(s.key ORDER BY s.seq)
            FROM runs_step s
            WHERE s.run_id = r.id AND s.kind <> 'plan'
              AND s.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN')), '[]'::jsonb)
    )::text,
    r.epoch
FROM runs_run r
LEFT JOIN LATERAL (
    SELECT b.version, b.summarised, b.summary
    FROM runs_checkpoint b
    WHERE b.run_id = r.id AND b.digest = encode(sha256(convert_to(
        concat_ws(E'\n', b.run_id, b.version, b.summarised, b.summary, b.state), 'UTF8')), 'hex')
    ORDER BY b.version DESC LIMIT 1) c ON true
WHERE r.id = ANY (%(runs)s)
