-- Purpose: tenants with more leases than their quota, counted from the rows (B34). Takes no locks.
SELECT s.tenant_id
FROM runs_step s LEFT JOIN runs_tenantterms t ON t.tenant_id = s.tenant_id
WHERE s.status = 'RUNNING'
GROUP BY s.tenant_id
HAVING count(*) > COALESCE(max(t.lease_quota), %(quota)s)
