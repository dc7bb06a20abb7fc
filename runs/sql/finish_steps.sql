-- Purpose: end (or give back) executed steps. The guard of L1: owner, fence, epoch and lease are compared here.
-- Who wins: the newest fence. A step that is not returned was not ours any more: its outcome goes to quarantine.
-- `mode`: held = the lease must still run; expired = it must have run out; gone = its owner is proven gone.
-- The arrays of ids are said again so that every plan goes to the rows by their ids, whatever it believes of the tables.
-- The first failure sets when it is too late for another try; the last column says that the next one would be.
-- A plan made against an old version of the run is not taken: the plan step goes back.
UPDATE runs_step s
SET status = CASE WHEN s.kind = 'plan' AND f.status = 'SUCCEEDED' AND r.version <> f.version THEN 'PENDING'
                  ELSE f.status END,
    output = f.output, error_code = f.error_code, error_text = f.error_text,
    failures = s.failures + f.failures, losses = s.losses + f.losses,
    tokens = LEAST(s.tokens::bigint + f.tokens, 2147483647), cost = LEAST(s.cost + f.cost, 99999999),
    deadline = CASE WHEN f.total IS NULL THEN s.deadline
                    ELSE COALESCE(s.deadline, s.started_at + f.total * interval '1 second') END,
    owner_id = NULL, lease_until = NULL,
    not_before = CASE WHEN f.status = 'PENDING' THEN clock_timestamp() + f.delay * interval '1 second'
                      ELSE s.not_before END,
    finished_at = CASE WHEN f.status = 'PENDING' OR (s.kind = 'plan' AND f.status = 'SUCCEEDED'
                           AND r.version <> f.version) THEN NULL ELSE clock_timestamp() END,
    ended_seq = CASE WHEN f.status = 'PENDING' OR s.kind = 'plan' THEN NULL ELSE r.steps_ended + 1 END
FROM jsonb_to_recordset(%(outcomes)s::text::jsonb) AS f(
         id uuid, run uuid, fence bigint, epoch int, version bigint, status text, output jsonb, error_code text,
         error_text text, failures int, losses int, tokens int, cost numeric, delay double precision,
         total double precision)
JOIN runs_run r ON r.id = f.run AND r.id = ANY (%(runs)s)
WHERE s.id = f.id AND s.id = ANY (%(steps)s) AND s.fence = f.fence AND s.epoch = f.epoch AND s.owner_id = %(worker)s
  AND COALESCE(s.status, '') = 'RUNNING'
  AND CASE %(mode)s WHEN 'held' THEN s.lease_until > clock_timestamp()
                    WHEN 'expired' THEN s.lease_until <= clock_timestamp()
                    WHEN 'gone' THEN EXISTS (SELECT 1 FROM tools_workerprocess w
                                             WHERE w.id = s.owner_id AND w.stopped_at IS NOT NULL)
      END
RETURNING s.id, s.status, COALESCE(f.total IS NOT NULL AND s.not_before > s.deadline, false)
