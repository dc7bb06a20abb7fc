-- Purpose: what the agent of each run may decide from, and the version it belongs to, read in one statement so that
-- both are of one moment. Takes no locks.
SELECT r.id, r.version, r.agent, r.agent_version,
    jsonb_build_object(
        'goal', r.goal, 'input', r.input, 'summary', r.context_summary, 'ended', r.steps_ended,
        'unsummarised', r.steps_ended - r.summarised,
        'today', to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
        'recent', COALESCE((
            SELECT jsonb_agg(jsonb_build_object(
                'key', s.key, 'kind', s.kind, 'tool', s.tool, 'status', s.status, 'output', s.output,
                'error_code', s.error_code, 'error_text', s.error_text) ORDER BY s.ended_seq)
            FROM runs_step s WHERE s.run_id = r.id AND s.ended_seq > r.summarised), '[]'::jsonb),
        'live', COALESCE((
            SELECT jsonb_agg(s.key ORDER BY s.seq)
            FROM runs_step s
            WHERE s.run_id = r.id AND s.kind <> 'plan'
              AND s.status IN ('PENDING', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_EXTERNAL', 'UNKNOWN')), '[]'::jsonb)
    )::text,
    r.epoch
FROM runs_run r
WHERE r.id = ANY (%(runs)s)
