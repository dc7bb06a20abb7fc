"""Headers of a delivery, signed with the official library."""

from collections.abc import Sequence
from datetime import datetime

from standardwebhooks.webhooks import Webhook


def headers(
    *, message_id: str, at: datetime, body: bytes, secrets: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """One signature for each secret, the newest first, with spaces between: while secrets change, receivers with the old
    one and with the new one both accept. ``at`` is aware, in UTC."""
    text = body.decode()
    signatures = [Webhook(secret).sign(msg_id=message_id, timestamp=at, data=text) for secret in secrets]
    return (
        ("content-type", "application/json"),
        ("user-agent", "Countersign-Webhooks/1"),
        ("webhook-id", message_id),
        ("webhook-timestamp", str(int(at.timestamp()))),
        ("webhook-signature", " ".join(signatures)),
    )
