-- Take the end of a tenant's audit chain: create it when missing, lock it, hand out the next `count` sequence numbers
-- (the last of them is returned).
-- Who wins: writers of one chain queue on this row until the other transaction ends.
-- Lock order: the head is always the last row that a transaction locks.
-- The time is read under the lock, so times in a chain never run backwards.
INSERT INTO accounts_audithead AS head (tenant_id, sequence, hash)
VALUES (%(tenant)s, %(count)s, %(start)s)
ON CONFLICT (tenant_id) DO UPDATE SET sequence = head.sequence + %(count)s
RETURNING sequence, hash, clock_timestamp();
