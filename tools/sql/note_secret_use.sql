-- Purpose: when a secret was last given to a call, to about %(seconds)s seconds.
-- Who wins: anybody; a row that somebody has locked is left as it is, so no call waits for another one here.
UPDATE tools_secret SET used_at = now()
WHERE id IN (
    SELECT s.id FROM tools_secret s
    WHERE s.id = ANY (%(ids)s) AND (s.used_at IS NULL OR s.used_at < now() - make_interval(secs => %(seconds)s))
    FOR NO KEY UPDATE SKIP LOCKED
)
