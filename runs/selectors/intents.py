"""Effects of a run."""

import uuid

from tools.models import Intent


def of_run(run_id: uuid.UUID) -> list[Intent]:
    """All intents of a run in the order they were proposed, with contract and tool."""
    rows = Intent.objects.filter(run_id=run_id).select_related("contract", "tool")
    return list(
        rows.defer("answer", "evidence", "contract__input_schema", "contract__output_schema").order_by(
            "created_at"
        )
    )
