-- Purpose: counters by name. Takes no locks.
SELECT t.name, t.labels, t.value FROM runs_tally t WHERE t.name = ANY (%(names)s)
