-- Purpose: lock one resource, made where it is missing, and tell the newest token that was on it.
-- Who wins: begins on one resource come one after the other. Joins the transaction of begin; lock order: after intents,
-- before quotas.
INSERT INTO tools_resourcefence AS f (id, tenant_id, resource, last_token)
VALUES (%(id)s, %(tenant)s, %(resource)s, 0)
ON CONFLICT (tenant_id, resource) DO UPDATE SET last_token = f.last_token
RETURNING f.last_token
