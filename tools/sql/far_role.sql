-- Purpose: may the role that asks a foreign database change anything in it? Run there, in the read-only transaction of
-- the question itself. One row: the role, whether it stands above all rights or reaches the server's files, and one
-- relation that it may write, if there is any.
SELECT current_user::text,
       (SELECT r.rolsuper OR pg_has_role(r.oid, 'pg_execute_server_program', 'MEMBER')
               OR pg_has_role(r.oid, 'pg_write_server_files', 'MEMBER')
        FROM pg_catalog.pg_roles r WHERE r.rolname = current_user),
       (SELECT format('%%I.%%I', n.nspname, c.relname)
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
          AND has_schema_privilege(n.oid, 'USAGE')
          AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
        LIMIT 1)
