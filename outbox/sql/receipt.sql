-- Leave a receipt. Who wins: the first transaction to commit; others wait for it and get no row back.
INSERT INTO outbox_receipt (consumer, event_id)
VALUES (%(consumer)s, %(event)s)
ON CONFLICT (consumer, event_id) DO NOTHING
RETURNING id;
