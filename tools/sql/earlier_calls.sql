-- Purpose: calls of some tools that may still happen or have happened, for rules over totals: in a run, or in the last 24
-- hours of the tenant. Of the arguments only the parts that are added up.
-- Who counts: everything but what is known not to have happened or never will. What still waits for a person counts for
-- those that were proposed after it; what was let through counts for all, so of two calls that are begun at once, in
-- whatever order they were proposed, one at least sees the other.
-- Lock order: none; within a run the caller holds the run.
SELECT t.name, i.run_id = %(run)s::uuid AS same_run,
       (i.created_at > now() - interval '24 hours' OR i.dispatched_at > now() - interval '24 hours') AS same_day,
       (SELECT COALESCE(jsonb_object_agg(part, i.arguments -> part), '{}')
        FROM unnest(%(parts)s::text[]) AS part WHERE i.arguments ? part)::text AS arguments
FROM tools_intent i JOIN tools_tool t ON t.id = i.tool_id
WHERE i.tenant_id = %(tenant)s AND t.tenant_id = %(tenant)s AND t.name = ANY (%(tools)s)
  AND (i.run_id = %(run)s::uuid OR %(day)s AND (
       i.created_at > now() - interval '24 hours' OR i.dispatched_at > now() - interval '24 hours'))
  AND i.status NOT IN ('REJECTED', 'VOIDED')
  AND i.key <> %(key)s
  AND (i.status <> 'PROPOSED'
       OR i.id < COALESCE((SELECT mine.id FROM tools_intent mine WHERE mine.key = %(key)s), 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
