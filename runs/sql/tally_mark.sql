-- Purpose: how far the history has been counted, how far it may be in this round (`step` seconds at most), and how far when all
-- is settled: no transaction is under way that was when the mark was set.
-- Who wins: counters queue at this one row. The first call makes it: counting begins then.
INSERT INTO runs_tallymark AS m (id, counted, ready, horizon) VALUES (1, now(), now(), 0)
ON CONFLICT (id) DO UPDATE SET id = 1
RETURNING m.counted, m.ready, LEAST(m.ready, m.counted + %(step)s * interval '1 second'),
    -- A mark beyond every transaction comes from another cluster, by a dump: nothing of that is under way here.
    m.horizon <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        OR m.horizon > pg_snapshot_xmax(pg_current_snapshot())::text::bigint
