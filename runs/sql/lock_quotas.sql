-- Purpose: claims for tenants near their quota go one after the other, so that each counts the leases that the one before
-- has taken. Held until the end of the transaction.
-- Lock order: by tenant, once in a transaction, before nothing that waits: claims skip locked steps. The keys are those of
-- pg_advisory_xact_lock(int, int): 5 is this purpose.
SELECT pg_advisory_xact_lock(5, hashtext(t.id::text))
FROM (SELECT DISTINCT u.id FROM unnest(%(tenants)s::uuid[]) AS u(id) ORDER BY u.id) t
