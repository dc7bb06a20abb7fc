-- Purpose: by weight, what of the effects of a run has a way back, beside the call of one key (L15).
-- Who counts: as in earlier_calls.sql, everything but what is known not to have happened or never will; what waits for a
-- person counts for those that were proposed after it. An undo is no effect of its own; what was undone could be undone.
-- Of an undo itself nothing is asked: no row.
-- Lock order: none; the caller holds the run.
SELECT COALESCE(sum(c.weight) FILTER (WHERE c.effect_class = 'compensable'), 0), COALESCE(sum(c.weight), 0)
FROM tools_intent i JOIN tools_contract c ON c.id = i.contract_id
WHERE i.run_id = %(run)s AND i.compensates_id IS NULL AND c.effect_class <> 'read_only' AND i.key <> %(key)s
  AND i.status NOT IN ('REJECTED', 'VOIDED')
  AND (i.status <> 'PROPOSED'
       OR i.id < COALESCE((SELECT mine.id FROM tools_intent mine WHERE mine.key = %(key)s), 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
HAVING NOT EXISTS (SELECT 1 FROM tools_intent mine WHERE mine.key = %(key)s AND mine.compensates_id IS NOT NULL)
