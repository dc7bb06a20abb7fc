-- Purpose: failures of tenants, in the commit that records them (L18). What was owed before has halved with every
-- half-life since.
-- Lock order: quota rows, by tenant; after runs, steps and intents, before messages.
INSERT INTO runs_tenantterms AS t (tenant_id, debt, debt_at)
SELECT d.tenant, d.failures, now()
FROM jsonb_to_recordset(%(debts)s::text::jsonb) AS d(tenant uuid, failures int)
ORDER BY d.tenant
ON CONFLICT (tenant_id) DO UPDATE
SET debt = EXCLUDED.debt
        + t.debt * power(0.5, GREATEST(0, EXTRACT(EPOCH FROM now() - t.debt_at)::float8) / %(half_life)s),
    debt_at = now()
