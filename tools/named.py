"""The contracts in force that a contract leans on, and those that lean on it: reads for the check before publishing."""

from tools import compensation
from tools.models import Contract
from tools.reasons import Problem
from tools.selectors import contracts_for


def by(contract: Contract) -> dict[str, Contract]:
    """What undoes its effects, and what undoes that; by name, as far as it is in force."""
    found: dict[str, Contract] = {}
    names = {contract.compensating_tool}
    for _step in range(2):
        pairs = {(contract.tenant_id, name) for name in names if name and name not in found}
        more = contracts_for(pairs)
        found |= {name: row for (_tenant, name), row in more.items()}
        names = {row.compensating_tool for row in more.values()}
    return found


def leaning(contract: Contract) -> list[Contract]:
    """Contracts in force of other tools whose effects this tool undoes."""
    rows = Contract.everywhere.select_related("tool").filter(
        tenant_id=contract.tenant_id,
        status=Contract.Status.PUBLISHED,
        compensating_tool=contract.tool.name,
    )
    return list(rows.exclude(tool_id=contract.tool_id).order_by("tool__name"))


def broken(contract: Contract) -> list[Problem]:
    """What would not fit any more in others if this draft came into force."""
    found = []
    for other in leaning(contract):
        tools = {**by(other), contract.tool.name: contract}
        for problem in compensation.problems(other, tools):
            params = {"other": other.tool.name, "why": str(problem)}
            found.append(Problem("breaks_undo", compensation.BREAKS, params, "compensating_tool"))
    return found
