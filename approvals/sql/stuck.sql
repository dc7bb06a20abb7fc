-- Purpose: open questions whose mark "nobody can decide this" does not fit what is so now, oldest first.
-- It counts for each what approvals.rules counts: active members who hold role and group, four eyes observed, in time for
-- its end; whoever signed by escalation counts too. The rules have the last word (approvals.chase): this only finds whom
-- to ask about. One pass over the open questions; people are counted once for each role and group, not for each question.
-- Wins: nobody, it locks nothing. Lock order: none.
WITH asked AS (
    SELECT a.id, a.tenant_id, a.kind, a.submitter_id, a.editors, a.undecidable_since, a.escalated_at, a.opened_at,
           COALESCE(a.expires_at, clock_timestamp() + make_interval(secs => %(patience)s)) AS ends_at,
           COALESCE(NULLIF(a.policy ->> 'role', ''), 'approver') AS role,
           COALESCE(a.policy ->> 'group', '') AS grp,
           CASE WHEN COALESCE(a.policy ->> 'quorum', '') IN ('', '0', 'false') THEN 1
                WHEN a.policy ->> 'quorum' ~ '^[0-9]{1,9}$' THEN GREATEST(1, (a.policy ->> 'quorum')::integer)
                ELSE 2147483647 END AS quorum,
           a.kind = 'take_over' OR (a.kind = 'answer' AND a.policy -> 'not_submitter' = 'false'::jsonb) AS own,
           CASE WHEN a.kind = 'approve' AND a.policy -> 'editor_may_approve' IS DISTINCT FROM 'true'::jsonb
                THEN a.editors ELSE '{}'::uuid[] END AS barred
    FROM approvals_pendingaction a
    WHERE a.status = 'OPEN' AND (%(only)s::uuid IS NULL OR a.id = %(only)s::uuid)
),
live AS (
    SELECT m.tenant_id, m.user_id, m.roles
    FROM accounts_membership m
    JOIN accounts_user u ON u.id = m.user_id AND u.is_active
    JOIN accounts_tenant t ON t.id = m.tenant_id AND t.active
    WHERE m.disabled_at IS NULL AND m.tenant_id IN (SELECT tenant_id FROM asked)
),
away AS (
    SELECT b.tenant_id, b.user_id, max(b.ends_at) AS until
    FROM accounts_absence b
    WHERE b.cancelled_at IS NULL AND b.begins_at <= statement_timestamp() AND b.ends_at > statement_timestamp()
      AND b.tenant_id IN (SELECT tenant_id FROM asked)
    GROUP BY b.tenant_id, b.user_id
),
able AS (
    SELECT k.tenant_id, k.role, k.grp, l.user_id, w.until
    FROM (SELECT DISTINCT tenant_id, role, grp FROM asked) k
    JOIN live l ON l.tenant_id = k.tenant_id AND k.role = ANY (l.roles)
    LEFT JOIN away w ON w.tenant_id = k.tenant_id AND w.user_id = l.user_id
    WHERE k.grp = '' OR EXISTS (
        SELECT 1 FROM accounts_group g JOIN accounts_groupmember p ON p.group_id = g.id
        WHERE g.tenant_id = k.tenant_id AND g.name = k.grp AND g.closed_at IS NULL AND p.user_id = l.user_id)
),
owners AS (
    SELECT l.tenant_id, l.user_id
    FROM live l JOIN accounts_tenant t ON t.id = l.tenant_id
    WHERE l.user_id = t.escalation_owner_id
       OR ('administrator' = ANY (l.roles) AND NOT EXISTS (
              SELECT 1 FROM live n WHERE n.tenant_id = t.id AND n.user_id = t.escalation_owner_id))
),
crowd AS (
    SELECT tenant_id, role, grp, array_agg(user_id) AS people, bool_or(until IS NOT NULL) AS some_away
    FROM able GROUP BY tenant_id, role, grp
),
counted AS (
    SELECT q.id, q.opened_at, q.quorum, q.undecidable_since,
           CASE WHEN c.people IS NULL THEN 0 ELSE cardinality(c.people) END
           - CASE WHEN NOT q.own AND q.submitter_id = ANY (c.people) THEN 1 ELSE 0 END
           - (SELECT count(*) FROM unnest(q.barred) e (one)
              WHERE e.one = ANY (c.people) AND (q.own OR e.one <> q.submitter_id))
           + CASE WHEN q.own AND q.submitter_id = ANY (c.people) IS NOT TRUE AND EXISTS (
                 SELECT 1 FROM live l
                 LEFT JOIN away w ON w.tenant_id = l.tenant_id AND w.user_id = l.user_id
                 WHERE l.tenant_id = q.tenant_id AND l.user_id = q.submitter_id
                   AND (w.until IS NULL OR w.until < q.ends_at))
             THEN 1 ELSE 0 END
           - CASE WHEN c.some_away THEN (
                 SELECT count(*) FROM able b
                 WHERE (b.tenant_id, b.role, b.grp) = (q.tenant_id, q.role, q.grp) AND b.until >= q.ends_at
                   AND NOT (b.user_id = ANY (q.barred)) AND (q.own OR b.user_id <> q.submitter_id)
                   AND NOT EXISTS (SELECT 1 FROM approvals_decision d
                                   WHERE d.action_id = q.id AND d.user_id = b.user_id))
             ELSE 0 END
           + CASE WHEN q.escalated_at IS NULL THEN 0 ELSE (
                 SELECT count(DISTINCT d.user_id) FROM approvals_decision d
                 JOIN owners o ON o.tenant_id = q.tenant_id AND o.user_id = d.user_id
                 WHERE d.action_id = q.id AND d.verdict = 'approve' AND d.authority = 'escalation'
                   AND d.user_id = ANY (c.people) IS NOT TRUE
                   AND NOT (d.user_id = ANY (q.barred)) AND (q.own OR d.user_id <> q.submitter_id)) END AS people
    FROM asked q
    LEFT JOIN crowd c ON (c.tenant_id, c.role, c.grp) = (q.tenant_id, q.role, q.grp)
)
SELECT id FROM counted
WHERE (people < quorum) <> (undecidable_since IS NOT NULL)
ORDER BY opened_at, id
LIMIT %(limit)s
