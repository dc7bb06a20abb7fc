-- Purpose: a database that nobody has looked at yet is accepted as it is. Who wins: whoever comes first.
INSERT INTO accounts_databaseorigin (id, system_identifier, timeline, generation, doubt, accepted_at, reason)
VALUES (1, %(system)s, %(timeline)s, 0, '', clock_timestamp(), '')
ON CONFLICT (id) DO NOTHING
