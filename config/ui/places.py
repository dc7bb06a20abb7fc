"""Which entry of the rail a page belongs to: the page's own application, but for pages whose way in stands elsewhere."""

from typing import Final

from django.urls import ResolverMatch

TASKS, INBOX, TOOLS, SETTINGS = "tasks", "inbox", "tools", "settings"
_OF_APPLICATION: Final = {
    "runs": TASKS,
    "approvals": INBOX,
    "quality": SETTINGS,
    "notes": INBOX,
    "tools": TOOLS,
    "accounts": SETTINGS,
    "outbox": SETTINGS,
}
#: Pages of tasks that are reached from the page of tools: they need more of a task than the room of tools knows.
_OF_TOOLS: Final = {
    *("runs:stops", "runs:stop_everything", "runs:lift_everything"),
    *("runs:duplicates", "runs:import_mcp", "runs:import_mcp_list"),
}
#: Pages of tasks that are reached from the inbox.
_OF_INBOX: Final = {"runs:check_again", "runs:edit_proposal"}


def place(match: ResolverMatch | None, *, may_administer: bool) -> str:
    """One of the four entries, or "" where none is right. Who sees no entry of tools has them under the tasks."""
    if match is None:
        return ""
    if match.view_name in _OF_TOOLS:
        return TOOLS if may_administer else TASKS
    if match.view_name in _OF_INBOX:
        return INBOX
    if match.app_name:
        return _OF_APPLICATION.get(match.app_name, "")
    own = match.view_name.startswith("mfa_") or match.view_name == "account_change_password"
    return SETTINGS if own else ""
