-- Purpose: the effects whose letter has a Message-ID with this left side (`tools.adapters.smtp.message_id`), among those that
-- were sent by mail in the last `days`. A report about a letter is rare, so no index is kept for it at every effect.
SELECT i.id, i.tenant_id, i.run_id, i.step_id
FROM tools_intent i JOIN tools_contract c ON c.id = i.contract_id
WHERE c.adapter = 'smtp' AND i.dispatch_id IS NOT NULL AND i.created_at > now() - %(days)s * interval '1 day'
  AND (%(tenant)s::uuid IS NULL OR i.tenant_id = %(tenant)s)
  AND left(encode(sha256(convert_to(i.key, 'UTF8')), 'hex'), 40) = %(mark)s
LIMIT 2
