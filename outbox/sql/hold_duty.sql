-- Elect the holder of a duty. Who wins: the first to find it free, or its present holder.
INSERT INTO outbox_duty AS duty (name, holder, held_until, last_result)
VALUES (%(name)s, %(holder)s, clock_timestamp() + make_interval(secs => %(seconds)s), '{}')
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
WHERE duty.held_until IS NULL OR duty.held_until < clock_timestamp() OR duty.holder = excluded.holder
RETURNING name;
