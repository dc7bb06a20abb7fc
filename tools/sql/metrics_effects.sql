-- Purpose: effects that are under way or unknown. Takes no locks; reads the partial index of open ones.
SELECT states.status, (SELECT count(*) FROM tools_intent i
    WHERE i.status = states.status AND i.status IN ('DISPATCHED', 'UNKNOWN'))
FROM unnest(ARRAY['DISPATCHED', 'UNKNOWN']) AS states(status)
