-- Purpose: take a lease and a new fence token on up to `free` claimable steps of each pool (L2), shared out among tenants
-- by weight (L18). One row a step; a pool with ready tenants has at least one row, with no step in it.
-- Who wins: whoever locks the row first; SKIP LOCKED, so nobody waits for a step and lock order cannot matter. Rows without
-- a step: there is nothing to do, or others were faster.
-- `room`: none in a database that may have been set back (`accounts.origin`): the accepted cluster and timeline are compared
-- here, so that no worker has to know of it.
-- `circle`: tenants with ready steps, one look into step_claimable for each, beginning after the one served last; so the
-- cost does not grow with the number of tenants or of waiting steps.
-- `stopped`: what people switched off. Nothing of a stopped tenant or run is taken, and no call of a stopped tool that only
-- reads; an effect of it is, so that begin can hold it back and say why.
-- `facts`: their leases, counted from the rows (B34), and their weight w / (1 + a * r), where r are the recent failures,
-- halved every half-life.
-- `wish`: what each lacks to its part of all leases of these tenants, as if all had endless work; `most` is what one tenant
-- may hold of a pool of this node. `allotted`: who holds least for its weight goes first; chance decides among equals and
-- lets nobody starve. A tenant with fewer than `near` leases left to its quota gets its places only in a second go, when
-- its lock is held (`lock_quotas`); until then they stay free.
WITH RECURSIVE room AS MATERIALIZED (
    SELECT r.pool, r.free, COALESCE(r.most, r.free) AS most, r.most IS NOT NULL AS limited,
           COALESCE(r.after, '00000000-0000-0000-0000-000000000000') AS after
    FROM jsonb_to_recordset(%(room)s::text::jsonb) AS r(pool text, free int, most int, after uuid)
    WHERE NOT EXISTS (
        SELECT 1 FROM accounts_databaseorigin o, pg_control_system() c
        WHERE o.doubt <> '' OR o.system_identifier <> c.system_identifier::text
           OR o.timeline <> ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int)),
circle(pool, n, tenant, first) AS (
    SELECT room.pool, 1, next.tenant, next.tenant
    FROM room CROSS JOIN LATERAL (
        (SELECT s.tenant_id AS tenant FROM runs_step s
         WHERE s.status = 'PENDING' AND NOT s.held AND s.pool = room.pool AND s.tenant_id > room.after
           AND s.not_before <= now()
         ORDER BY s.tenant_id LIMIT 1)
        UNION ALL
        (SELECT s.tenant_id FROM runs_step s
         WHERE s.status = 'PENDING' AND NOT s.held AND s.pool = room.pool AND s.not_before <= now()
         ORDER BY s.tenant_id LIMIT 1)
        LIMIT 1) next
    UNION ALL
    SELECT c.pool, c.n + 1, next.tenant, c.first
    FROM circle c CROSS JOIN LATERAL (
        (SELECT s.tenant_id AS tenant FROM runs_step s
         WHERE s.status = 'PENDING' AND NOT s.held AND s.pool = c.pool AND s.tenant_id > c.tenant
           AND s.not_before <= now()
         ORDER BY s.tenant_id LIMIT 1)
        UNION ALL
        (SELECT s.tenant_id FROM runs_step s
         WHERE s.status = 'PENDING' AND NOT s.held AND s.pool = c.pool AND s.not_before <= now()
         ORDER BY s.tenant_id LIMIT 1)
        LIMIT 1) next
    WHERE c.n < %(tenants)s AND next.tenant <> c.first),
stopped AS MATERIALIZED (
    SELECT w.tenant_id, w.run_id, t.name AS tool
    FROM tools_stopswitch w LEFT JOIN tools_tool t ON t.id = w.tool_id WHERE w.lifted_at IS NULL
    UNION ALL
    SELECT t.tenant_id, NULL, t.name FROM tools_tool t WHERE t.paused_at IS NOT NULL),
facts AS MATERIALIZED (
    SELECT c.pool, c.n, c.tenant, room.free, active.leases, terms.weight,
           CASE WHEN room.limited THEN room.most - active.here ELSE room.free END AS here_left,
           terms.quota - active.leases AS quota_left, random() AS chance
    FROM circle c JOIN room ON room.pool = c.pool
    CROSS JOIN LATERAL (
        SELECT COALESCE(max(t.weight / (1 + %(factor)s * t.debt * power(
                   0.5, GREATEST(0, EXTRACT(EPOCH FROM now() - t.debt_at)::float8) / %(half_life)s))), 1) AS weight,
               COALESCE(max(t.lease_quota), %(quota)s) AS quota
        FROM runs_tenantterms t WHERE t.tenant_id = c.tenant) terms
    CROSS JOIN LATERAL (
        SELECT count(*)::int AS leases, (count(*) FILTER (WHERE l.mine AND l.pool = c.pool))::int AS here
        FROM (SELECT s.owner_id = %(worker)s AS mine, s.pool FROM runs_step s
              WHERE s.status = 'RUNNING' AND s.tenant_id = c.tenant LIMIT terms.quota) l) active
    WHERE NOT EXISTS (SELECT 1 FROM stopped x WHERE x.tenant_id = c.tenant AND x.run_id IS NULL AND x.tool IS NULL)),
wish AS (
    SELECT f.pool, f.n, f.tenant, f.free, f.quota_left, LEAST(f.free, f.here_left, f.quota_left) AS most,
           (f.leases - ln(1 - f.chance)) / f.weight AS turn,
           (sum(f.leases) OVER part + f.free) * f.weight / sum(f.weight) OVER part - f.leases AS lacks
    FROM facts f
    WHERE f.here_left > 0 AND f.quota_left > 0
    WINDOW part AS (PARTITION BY f.pool)),
parts AS (
    SELECT w.pool, w.n, w.tenant, w.free, w.quota_left, w.turn, LEAST(w.most, floor(w.lacks)::int + CASE
               WHEN row_number() OVER (PARTITION BY w.pool ORDER BY w.turn)
                    <= w.free - sum(floor(w.lacks)) OVER (PARTITION BY w.pool) THEN 1 ELSE 0 END) AS places
    FROM wish w WHERE w.lacks > 0),
queue AS (
    SELECT p.pool, p.n, p.tenant, p.quota_left, p.free, LEAST(p.places, p.free - COALESCE(sum(p.places) OVER (
               PARTITION BY p.pool ORDER BY p.turn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)) AS places
    FROM parts p WHERE p.places > 0),
allotted AS MATERIALIZED (
    SELECT q.pool, q.n, q.tenant, q.free, q.quota_left < %(near)s AND q.tenant <> ALL (%(locked)s::uuid[]) AS near,
           LEAST(q.places, q.quota_left - COALESCE(sum(q.places) OVER (
               PARTITION BY q.tenant ORDER BY q.pool ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)) AS places
    FROM queue q WHERE q.places > 0),
ready AS MATERIALIZED (
    SELECT a.pool, a.tenant, found.id
    FROM allotted a CROSS JOIN LATERAL (
        SELECT s.id
        FROM runs_step s JOIN runs_run r ON r.id = s.run_id
        WHERE s.status = 'PENDING' AND NOT s.held AND s.pool = a.pool AND s.tenant_id = a.tenant
          AND s.not_before <= now()
          AND (s.kind = 'query' AND r.status IN ('PAUSED', 'CANCEL_REQUESTED', 'COMPENSATING')
               OR r.status = ANY (%(claimable)s) AND (r.status <> 'COMPENSATING' OR s.kind = 'undo'))
          AND (r.agent_digest = ANY (%(digests)s) OR s.kind = 'undo') AND (r.takeover IS NULL OR s.kind = 'query')
          AND NOT EXISTS (SELECT 1 FROM stopped x WHERE x.tenant_id = s.tenant_id
                            AND (x.run_id = s.run_id OR x.tool = s.tool AND s.intent_id IS NULL))
        ORDER BY s.not_before, s.id
        LIMIT GREATEST(a.places, 0)
        FOR UPDATE OF s SKIP LOCKED) found
    WHERE NOT a.near),
took AS (
    UPDATE runs_step s
    SET status = 'RUNNING', attempt = s.attempt + 1, fence = nextval('fence'), owner_id = %(worker)s,
        started_at = clock_timestamp(), lease_until = clock_timestamp() + %(lease)s * interval '1 second'
    WHERE s.id = ANY (ARRAY(SELECT ready.id FROM ready)) AND s.status = 'PENDING'
    RETURNING s.id, s.run_id, s.tenant_id, s.key, s.kind, s.tool, s.pool, s.attempt, s.failures, s.losses, s.epoch,
              s.fence, s.timeout_seconds, s.input::text, s.intent_id, s.contract_id)
SELECT turn.pool, turn.walked, turn.last, turn.near, turn.more, took.*
FROM (
    SELECT c.pool, max(c.n) AS walked,
           -- The room went out: those after the last that got a part begin the next time. Else: the circle goes on.
           COALESCE((SELECT a.tenant FROM allotted a WHERE a.pool = c.pool
                       AND (SELECT sum(b.places) >= a.free FROM allotted b WHERE b.pool = c.pool)
                     ORDER BY a.n DESC LIMIT 1),
                    (array_agg(c.tenant ORDER BY c.n DESC))[1]) AS last,
           ARRAY(SELECT a.tenant FROM allotted a WHERE a.pool = c.pool AND a.near) AS near,
           CASE WHEN (SELECT count(*) FROM ready WHERE ready.pool = c.pool) < min(c.free) THEN EXISTS (
               SELECT 1 FROM facts f LEFT JOIN allotted a ON a.pool = f.pool AND a.tenant = f.tenant
               WHERE f.pool = c.pool AND f.here_left > 0 AND f.quota_left > 0 AND a.near IS NOT TRUE
                 AND COALESCE(a.places, 0)
                     <= (SELECT count(*) FROM ready WHERE ready.pool = f.pool AND ready.tenant = f.tenant))
           ELSE false END AS more
    FROM facts c GROUP BY c.pool) turn
LEFT JOIN took ON took.pool = turn.pool
