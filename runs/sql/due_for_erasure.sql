-- Purpose: ended runs whose payloads have been kept as long as their tenant wants (index run_to_erase). A run whose lineage
-- goes on is kept: its steps may be needed. Only a look: the erasure locks the run and compares again.
SELECT due.id
FROM accounts_tenant t
LEFT JOIN runs_tenantterms m ON m.tenant_id = t.id
CROSS JOIN LATERAL (
    SELECT r.id, r.finished_at FROM runs_run r
    WHERE r.tenant_id = t.id AND r.finished_at IS NOT NULL AND r.erased_at IS NULL
      AND r.finished_at < now() - make_interval(days => COALESCE(m.retention_days, %(days)s))
      -- Counted, not NOT EXISTS: which would be planned as a join with all live runs.
      AND (SELECT count(*) FROM runs_run c WHERE c.parent_id = r.id AND c.finished_at IS NULL) = 0
    ORDER BY r.finished_at
    LIMIT %(limit)s) due
WHERE COALESCE(m.retention_days, %(days)s) > 0
ORDER BY due.finished_at
LIMIT %(limit)s
