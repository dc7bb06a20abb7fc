-- Purpose: which cluster and timeline this is, how far its log is on the disk, and what was last accepted. Takes no locks.
SELECT c.system_identifier::text,
       ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int,
       (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::bigint,
       o.system_identifier, o.timeline, COALESCE(o.generation, 0), COALESCE(o.doubt, '')
FROM pg_control_system() c LEFT JOIN accounts_databaseorigin o ON o.id = 1
