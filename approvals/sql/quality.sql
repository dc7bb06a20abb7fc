-- Purpose: how people decide, by person and by tool, over one period of a tenant. One pass over the newest decisions by
-- index; times in seconds, as [half, 95 of 100]. Takes no locks.
SELECT CASE WHEN GROUPING(u.id) = 0 THEN 'person' ELSE 'tool' END, u.id, u.name, t.name, t.title,
       count(*), count(*) FILTER (WHERE d.verdict = 'approve'), count(*) FILTER (WHERE d.verdict = 'reject'),
       count(*) FILTER (WHERE d.verdict = 'ask_changes'),
       percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY EXTRACT(EPOCH FROM d.at - a.opened_at)::double precision),
       percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY EXTRACT(EPOCH FROM d.at - d.opened_at)::double precision),
       count(d.opened_at), count(*) FILTER (WHERE d.payload_opened), count(*) FILTER (WHERE NOT d.payload_opened),
       count(*) FILTER (WHERE a.risk = 'high' AND d.verdict = 'approve' AND d.at - d.opened_at < %(hasty)s)
FROM approvals_decision d
JOIN approvals_pendingaction a ON a.id = d.action_id AND a.kind = 'approve'
JOIN accounts_user u ON u.id = d.user_id
JOIN tools_intent i ON i.id = a.intent_id
JOIN tools_tool t ON t.id = i.tool_id
WHERE d.tenant_id = %(tenant)s AND d.at >= %(since)s AND d.verdict IN ('approve', 'reject', 'ask_changes')
  AND (%(tool)s = '' OR t.name = %(tool)s) AND (%(who)s::uuid IS NULL OR d.user_id = %(who)s)
GROUP BY GROUPING SETS ((u.id, u.name), (t.id, t.name, t.title))
ORDER BY 1, 6 DESC, 3, 4
LIMIT 1000
