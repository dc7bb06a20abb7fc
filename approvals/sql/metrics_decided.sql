-- Purpose: how long people took to answer (half, 95 of 100). Takes no locks; for each tenant the newest 1,000 of a day, by index.
SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY took.seconds)
FROM accounts_tenant t
CROSS JOIN LATERAL (
    SELECT EXTRACT(EPOCH FROM a.decided_at - a.opened_at)::double precision AS seconds
    FROM approvals_pendingaction a
    WHERE a.tenant_id = t.id AND a.status <> 'OPEN' AND a.decided_at > now() - interval '1 day' AND a.kind = 'approve'
      AND a.status IN ('APPROVED', 'CONSUMED', 'REJECTED', 'CHANGES_REQUESTED')
    ORDER BY a.decided_at DESC LIMIT 1000) AS took
