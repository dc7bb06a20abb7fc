-- Purpose: effects of the last three weeks that ran without a person and are to be looked at, but were not drawn yet: those
-- whose lot is below the share, and the lowest lot of a tool in a week (Monday to Sunday, UTC) that is over and gave none.
-- Per tenant along intent_newest. Takes no locks: a row drawn twice meets the unique key of the samples.
WITH alone AS (
    SELECT i.id, i.tenant_id, i.run_id, i.tool_id, s.id IS NOT NULL AS drawn,
           date_trunc('week', i.ended_at AT TIME ZONE 'UTC') AS week,
           ('x' || left(encode(sha256(convert_to(i.key, 'UTF8')), 'hex'), 8))::bit(32)::bigint AS lot
    FROM accounts_tenant n
    JOIN tools_intent i ON i.tenant_id = n.id AND i.created_at > clock_timestamp() - interval '21 days'
    JOIN tools_contract c ON c.id = i.contract_id AND c.effect_class <> 'read_only'
    LEFT JOIN approvals_sample s ON s.intent_id = i.id
    WHERE i.status = 'CONFIRMED' AND i."grant" IS NULL AND i.verdict ->> 'path' = 'auto'
), ordered AS (
    SELECT alone.*, bool_or(drawn OR lot < %(share)s) OVER of_week AS met,
           row_number() OVER (of_week ORDER BY lot, id) AS place
    FROM alone
    WINDOW of_week AS (PARTITION BY tenant_id, tool_id, week)
)
SELECT o.id, o.tenant_id, r.submitter_id, CASE WHEN o.lot < %(share)s THEN 'share' ELSE 'week' END
FROM ordered o
JOIN runs_run r ON r.id = o.run_id
WHERE NOT o.drawn
  AND (o.lot < %(share)s
       OR NOT o.met AND o.place = 1 AND o.week < date_trunc('week', clock_timestamp() AT TIME ZONE 'UTC'))
ORDER BY o.week, o.lot
LIMIT %(limit)s
