-- Purpose: end (or give back) executed steps. The guard of L1: owner, fence, both epochs and lease are compared here.
-- Who wins: the newest fence. A step that is not returned was not ours any more: its outcome goes to quarantine.
-- `mode`: held = the lease must still run; expired = it must have run out, and another worker may take it (see
-- withheld_steps); gone = its owner is proven gone; stopped = its owner says itself that it does not work on it any more.
-- The arrays of ids are said again so that every plan goes to the rows by their ids, whatever it believes of the tables.
-- The first failure sets when it is too late for another try; the last column says that the next one would be.
-- An effect that happened ends its step here only under the dispatch that is current.
-- Not taken, so the step goes back: a plan made against an old version of the run, and a result made from inputs that are
-- not the accepted ones any more (L13; the run is locked, so they cannot change now).
UPDATE runs_step s
SET status = t.status,
    output = CASE WHEN t.status = 'PENDING' THEN NULL ELSE f.output END,
    error_code = f.error_code, error_text = f.error_text,
    failures = s.failures + f.failures, losses = s.losses + f.losses,
    tokens = LEAST(s.tokens::bigint + f.tokens, 2147483647), cost = LEAST(s.cost + f.cost, 99999999),
    deadline = CASE WHEN f.total IS NULL THEN s.deadline
                    ELSE COALESCE(s.deadline, s.started_at + f.total * interval '1 second') END,
    owner_id = NULL, lease_until = NULL, waiting_on = '',
    not_before = CASE WHEN t.status = 'PENDING' THEN clock_timestamp() + f.delay * interval '1 second'
                      ELSE s.not_before END,
    finished_at = CASE WHEN t.status = 'PENDING' THEN NULL ELSE clock_timestamp() END,
    ended_seq = CASE WHEN t.status = 'PENDING' OR s.kind = 'plan' THEN NULL ELSE r.steps_ended + 1 END
FROM jsonb_to_recordset(%(outcomes)s::text::jsonb) AS f(
         id uuid, run uuid, fence bigint, epoch int, run_epoch int, kind text, consumes boolean, version bigint,
         status text, output jsonb, error_code text, error_text text, failures int, losses int, tokens int, cost numeric,
         delay double precision, total double precision, dispatch uuid)
JOIN runs_run r ON r.id = f.run AND r.id = ANY (%(runs)s)
CROSS JOIN LATERAL (
    SELECT CASE WHEN f.kind = 'plan' AND f.status = 'SUCCEEDED' AND r.version <> f.version THEN 'PENDING'
                WHEN f.consumes AND EXISTS (
                    SELECT 1 FROM runs_stepdependency d JOIN runs_step n ON n.id = d.needs_id
                    WHERE d.step_id = f.id AND d.step_id = ANY (%(steps)s) AND d.consumed_fence <> n.fence) THEN 'PENDING'
                ELSE f.status END AS status) t
WHERE s.id = f.id AND s.id = ANY (%(steps)s) AND s.fence = f.fence AND s.epoch = f.epoch AND s.owner_id = %(worker)s
  AND r.epoch = f.run_epoch
  AND (f.dispatch IS NULL OR EXISTS (
        SELECT 1 FROM tools_intent i
        WHERE i.id = s.intent_id AND i.status = 'DISPATCHED' AND i.dispatch_id = f.dispatch))
  AND COALESCE(s.status, '') = 'RUNNING'
  AND CASE %(mode)s WHEN 'held' THEN s.lease_until > clock_timestamp()
                    WHEN 'stopped' THEN true
                    WHEN 'expired' THEN s.lease_until <= clock_timestamp() AND NOT EXISTS (
                        SELECT 1
                        FROM tools_contract c JOIN tools_workerprocess w ON w.id = s.owner_id AND w.stopped_at IS NULL
                        WHERE c.id = s.contract_id AND c.takeover_rule = 'known_gone'
                          AND r.status = ANY (%(plannable)s) AND (r.failure IS NULL OR r.failure = 'null')
                          AND NOT EXISTS (SELECT 1 FROM tools_intent i
                                          WHERE i.id = s.intent_id AND i.status IN ('DISPATCHED', 'UNKNOWN', 'CONFIRMED')))
                    WHEN 'gone' THEN EXISTS (SELECT 1 FROM tools_workerprocess w
                                             WHERE w.id = s.owner_id AND w.stopped_at IS NOT NULL)
      END
RETURNING s.id, s.status, COALESCE(f.total IS NOT NULL AND s.not_before > s.deadline, false)
