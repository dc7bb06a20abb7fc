-- Purpose: take away uploads that are older than their tenant keeps payloads. What a task was given is a row of its own.
UPDATE runs_artifact a SET removed_at = now()
FROM accounts_tenant t LEFT JOIN runs_tenantterms m ON m.tenant_id = t.id
WHERE a.tenant_id = t.id AND a.kind = 'upload' AND a.run_id IS NULL AND a.removed_at IS NULL
  AND COALESCE(m.retention_days, %(days)s) > 0
  AND a.created_at < now() - make_interval(days => COALESCE(m.retention_days, %(days)s))
