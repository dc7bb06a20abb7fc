"""A test call: an administrator tries a tool that only reads, with sample arguments. It is a run like any other, so it goes
through a child of a node, with isolation, egress, secrets and caps of the contract in force; the list of tasks leaves it
out."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from accounts import rights
from accounts.errors import Refused
from accounts.ids import new_id
from accounts.models import Role
from runs.agents.tool_test import ToolTest
from runs.engine.submit import submit
from runs.errors import BadTask
from runs.models import Run
from tools.models import EffectClass
from tools.selectors import contract_for


def test_call(*, tenant_id: uuid.UUID, by: uuid.UUID, tool: str, arguments: Mapping[str, Any]) -> Run:
    """Starts the call under the version in force; the audit says who asked for which version with what. Owns its
    transaction. Raises :class:`accounts.errors.Refused`; then nothing was called."""
    if not rights.has_role(user_id=by, tenant_id=tenant_id, role=Role.ADMINISTRATOR):
        raise Refused("not_allowed", _("Only administrators may do this. Nothing was called."))
    contract = contract_for(tenant_id=tenant_id, tool=tool)
    if contract is None:
        raise Refused("not_in_force", _("No version is in force that could be called. Nothing was called."))
    if contract.effect_class != EffectClass.READ_ONLY:
        raise Refused(
            "not_read_only",
            _("Only tools that read are tried from here: this one changes the world. Nothing was called."),
        )
    try:
        run, _made = submit(
            tenant_id=tenant_id,
            submitter_id=by,
            agent=ToolTest.name,
            goal=f"{tool} v{contract.version}",
            input={"tool": tool, "arguments": dict(arguments)},
            submit_key=f"test:{new_id().hex}",
        )
    except BadTask as bad:
        raise Refused("bad_arguments", str(bad)) from bad
    return run
