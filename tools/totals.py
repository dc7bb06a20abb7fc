"""What came before a call, for the rules over totals. Joins the caller's transaction."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from accounts.statements import run as ask
from tools import policy as policies
from tools.models import Intent
from tools.policy import Earlier


def earlier(
    *,
    tenant_id: uuid.UUID,
    tool: str,
    policy: Mapping[str, Any],
    run_id: uuid.UUID | None,
    key: str,
    unsaved: Iterable[Intent] = (),
) -> list[Earlier]:
    """The calls that the totals of a policy count beside this one. ``key`` is that of the call itself, empty for an example;
    ``unsaved`` are intents of the same run that this transaction is about to insert. Nothing is asked when no rule adds up.
    """
    if not (wanted := policies.totals(policy)):
        return []
    tools = {tool, *(name for one in wanted for name in one.get("tools", ()))}
    found = ask(
        "tools",
        "earlier_calls",
        {
            "tenant": tenant_id,
            "tools": sorted(tools),
            "run": run_id,
            "day": any(one.get("per") == "day" for one in wanted),
            "key": key,
            "parts": sorted({one["argument"].split(".")[0] for one in wanted}),
        },
    )
    calls = [Earlier(name, orjson.loads(given), bool(run), bool(day)) for name, run, day, given in found]
    calls += [
        Earlier(one.tool.name, one.arguments) for one in unsaved if one.key != key and one.tool.name in tools
    ]
    return calls
