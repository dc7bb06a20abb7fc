"""System checks of the workbench: ``manage.py check`` says which MCP servers of the deployment cannot be used."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

from tools.mcp import servers


@register(Tags.compatibility)
def mcp_servers(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Whether ``COUNTERSIGN_MCP_SERVERS`` can be read."""
    try:
        servers.parse(settings.COUNTERSIGN.mcp_servers)
    except ValueError as wrong:
        return [Error(str(wrong), id="tools.mcp_servers")]
    return []
