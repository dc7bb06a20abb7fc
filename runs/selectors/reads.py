"""Calls that only read: they leave no intent, so the register of tools counts their steps."""

import uuid

from accounts.statements import run
from tools.replay import Figures


def of_tools(*, tenant_id: uuid.UUID, days: int) -> dict[uuid.UUID, Figures]:
    """By tool, of the last days."""
    rows = run("runs", "reads_of_tools", {"tenant": tenant_id, "days": days})
    return {tool_id: Figures(calls, errors, 0) for tool_id, calls, errors in rows}
