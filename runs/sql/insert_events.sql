-- Purpose: lines of history; sequence and hash were computed under the run's lock.
INSERT INTO runs_event (tenant_id, run_id, sequence, step_id, type, actor, epoch, fence, input_digest, artifacts,
                        payload, at, hash)
SELECT e.tenant, e.run, e.sequence, e.step, e.type, e.actor, e.epoch, e.fence, e.input_digest,
       ARRAY(SELECT jsonb_array_elements_text(e.artifacts)), e.payload, e.at, decode(e.hash, 'hex')
FROM jsonb_to_recordset(%(events)s::text::jsonb) AS e(
    tenant uuid, run uuid, sequence bigint, step uuid, type text, actor text, epoch int, fence bigint,
    input_digest text, artifacts jsonb, payload jsonb, at timestamptz, hash text)
