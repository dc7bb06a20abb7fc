-- Purpose: lock the windows of one tool, made where they are missing, and tell the time at which each was locked.
-- Who wins: begins of the same tool come one after the other, the shorter window first. Whoever waited sees what the one
-- before it has written. Joins the transaction of begin; lock order: after resource fences, before messages.
INSERT INTO tools_quotawindow AS q (id, tenant_id, tool_id, seconds, first, counts)
SELECT n.id, %(tenant)s, %(tool)s, n.seconds, 0, '{}'
FROM unnest(%(ids)s::uuid[], %(seconds)s::int[]) AS n(id, seconds)
ORDER BY n.seconds
ON CONFLICT (tool_id, seconds) DO UPDATE SET counts = q.counts
RETURNING q.seconds, q.first, q.counts, clock_timestamp()
