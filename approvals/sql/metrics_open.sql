-- Purpose: open questions by kind, and how old the oldest of each is. Takes no locks; reads the partial index of open ones.
SELECT kinds.kind, count(a.id), EXTRACT(EPOCH FROM clock_timestamp() - min(a.opened_at))::double precision
FROM unnest(ARRAY['approve', 'settle', 'take_over', 'answer']) AS kinds(kind)
LEFT JOIN approvals_pendingaction a ON a.kind = kinds.kind AND a.status = 'OPEN'
GROUP BY kinds.kind
