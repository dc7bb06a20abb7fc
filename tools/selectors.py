"""Reads of the workbench. Published contracts never change, so rows are kept in memory by id; which one is
in force, what is paused and what is stopped is asked anew every time."""

import logging
import threading
import uuid
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from accounts.models import Tenant
from tools import compensation, gate, totals, vault, weighed
from tools.adapters import registry
from tools.coverage import Coverage
from tools.models import Contract, EffectClass, Intent, StopSwitch, Tool
from tools.previews import tenant_facts

log = logging.getLogger(__name__)

_KEEP = 2_000
_kept: dict[uuid.UUID, Contract] = {}
_lock = threading.Lock()


def by_id(contract_id: uuid.UUID) -> Contract:
    """The contract with its tool; from memory once it is published. Its ``status`` may be out of date
    (retired), and ``tool`` holds only the name reliably: ask :func:`stops` whether it is paused. Raises
    ``Contract.DoesNotExist``."""
    kept = _kept.get(contract_id)
    if kept is None:
        kept = Contract.everywhere.select_related("tool").get(pk=contract_id)
        _keep(kept)
    return kept


def contract_for(*, tenant_id: uuid.UUID, tool: str) -> Contract | None:
    """The newest published contract of a tenant's tool, or None when no such tool is in force."""
    return contracts_for({(tenant_id, tool)}).get((tenant_id, tool))


def query_tool(contract: Contract) -> Contract | None:
    """The tool that is asked whether an effect of this contract happened: of the same tenant, in force now, and read-only.
    None: nothing can be asked."""
    if not contract.result_query:
        return None
    found = contract_for(tenant_id=contract.tenant_id, tool=contract.result_query)
    return found if found is not None and found.effect_class == EffectClass.READ_ONLY else None


def contracts_for(wanted: Collection[tuple[uuid.UUID, str]]) -> dict[tuple[uuid.UUID, str], Contract]:
    """The same for many pairs of tenant and tool at once, in one query, plus one for rows not yet in
    memory."""
    if not wanted:
        return {}
    ids = {
        (row[0], row[1]): row[2]
        for row in Contract.everywhere.filter(
            status=Contract.Status.PUBLISHED,
            tenant_id__in={tenant_id for tenant_id, _ in wanted},
            tool__name__in={tool for _, tool in wanted},
        ).values_list("tenant_id", "tool__name", "id")
    }
    missing = [ids[pair] for pair in wanted if pair in ids and ids[pair] not in _kept]
    fresh = (
        {row.pk: row for row in Contract.everywhere.select_related("tool").filter(pk__in=missing)}
        if missing
        else {}
    )
    for row in fresh.values():
        _keep(row)
    return {pair: fresh.get(ids[pair]) or by_id(ids[pair]) for pair in wanted if pair in ids}


def in_force(*, tenant_id: uuid.UUID) -> list[Contract]:
    """The contracts of a tenant that are in force, by the titles of their tools."""
    rows = Contract.everywhere.select_related("tool").filter(
        tenant_id=tenant_id, status=Contract.Status.PUBLISHED
    )
    return list(rows.order_by("tool__title", "tool__name"))


def spec(contract: Contract, *, newest: Contract | None = None) -> dict[str, Any]:
    """What a child needs of a contract, as plain values. Egress rules are those of ``newest``, if given.

    ``timeout`` and ``cpu_seconds`` in seconds, ``memory_mb`` in 10**6 bytes; ``effect`` is the effect
    class. A call that goes out in the tenant's name carries what of the tenant is seen outside, read now.
    """
    kind = registry.kind(contract.adapter)
    named: dict[str, Any] = (
        {"tenant": tenant_facts(Tenant.objects.get(pk=contract.tenant_id))} if kind.signed else {}
    )
    if names := kind.secrets(contract.config):
        named["secrets"] = _secrets(contract.tenant_id, names)
    return {
        **named,
        "tool": contract.tool.name,
        "adapter": contract.adapter,
        "target": contract.target,
        "config": contract.config,
        "timeout": contract.timeout_seconds,
        "effect": contract.effect_class,
        "egress": list((newest or contract).egress_hosts),
        "isolation": contract.isolation,
        "memory_mb": contract.memory_mb,
        "cpu_seconds": contract.cpu_seconds,
        "native_idempotency": contract.native_idempotency,
        "attempt_tokens": contract.attempt_tokens,
        "attempt_cost": None if contract.attempt_cost is None else str(contract.attempt_cost),
    }


def _secrets(tenant_id: uuid.UUID, names: list[str]) -> dict[str, str]:
    """What opens. A call whose secret does not fails before anything is sent; its neighbours go on."""
    try:
        return vault.opened(tenant_id=tenant_id, names=names)
    except vault.Sealed as sealed:
        log.error("secret %r of tenant %s does not open with the keys that are set", sealed.name, tenant_id)
        return {}


def stops(
    *, tenant_id: uuid.UUID, tool_id: uuid.UUID, run_id: uuid.UUID | None = None
) -> tuple[gate.Stop, ...]:
    """Everything that is switched off around a call now, oldest first, a paused tool last."""
    return Reading().stops(tenant_id=tenant_id, tool_id=tool_id, run_id=run_id)


def verdict(
    *,
    tenant_id: uuid.UUID,
    contract: Contract,
    arguments: Mapping[str, Any],
    run_id: uuid.UUID | None = None,
    key: str = "",
) -> gate.Verdict:
    """The gate's word now: the given definition, the newest rules, what came before, and what is switched off. ``key`` is
    that of the call's intent, if it has one: it is not counted twice."""
    return Reading().verdict(
        tenant_id=tenant_id, contract=contract, arguments=arguments, run_id=run_id, key=key
    )


class Reading:
    """The gate's facts as one transaction reads them: each once, however many calls it has to judge. Never kept longer."""

    def __init__(self) -> None:
        self._newest: dict[tuple[uuid.UUID, str], Contract | None] = {}
        self._switches: dict[uuid.UUID, list[StopSwitch]] = {}
        self._paused: dict[uuid.UUID, list[tuple[str, str]]] = {}
        self._floors: dict[uuid.UUID, int | None] = {}

    def verdict(
        self,
        *,
        tenant_id: uuid.UUID,
        contract: Contract,
        arguments: Mapping[str, Any],
        run_id: uuid.UUID | None = None,
        key: str = "",
        unsaved: Iterable[Intent] = (),
        switches: bool = True,
        undoes: bool = False,
    ) -> gate.Verdict:
        """As :func:`verdict`. ``unsaved``: intents of the run that the transaction is about to insert. Without ``switches``
        what is stopped does not count: a plan is judged by the rules, and the switch holds up its steps. Totals are asked
        for anew each time: what this transaction lets through counts for the next. ``undoes``: the call is an undo that has
        no intent yet; no floor of coverage holds for it."""
        facts = gate.facts(contract, newest=self.newest(contract))
        floor = None if undoes or facts.effect_class == EffectClass.READ_ONLY else self.floor(tenant_id)
        coverage = Coverage()
        if floor is not None and run_id is not None:
            known = weighed.before(run_id=run_id, key=key, unsaved=unsaved)
            floor, coverage = (floor, known) if known is not None else (None, coverage)
        return gate.decide(
            contract=facts,
            arguments=arguments,
            run=gate.RunFacts(
                floor=floor,
                coverage=coverage,
                stops=self.stops(tenant_id=tenant_id, tool_id=contract.tool_id, run_id=run_id)
                if switches
                else (),
                earlier=totals.earlier(
                    tenant_id=tenant_id,
                    tool=facts.tool,
                    policy=facts.policy,
                    run_id=run_id,
                    key=key,
                    unsaved=unsaved,
                ),
            ),
        )

    def floor(self, tenant_id: uuid.UUID) -> int | None:
        """The percent of reversible coverage below which this tenant wants a person asked."""
        if tenant_id not in self._floors:
            rows = Tenant.objects.filter(pk=tenant_id).values_list("coverage_floor", flat=True)
            self._floors[tenant_id] = rows.first()
        return self._floors[tenant_id]

    def newest(self, contract: Contract) -> Contract | None:
        """The contract of the same tool that is in force, whose rules hold."""
        return self.in_force(tenant_id=contract.tenant_id, tool=contract.tool.name)

    def in_force(self, *, tenant_id: uuid.UUID, tool: str) -> Contract | None:
        """As :func:`contract_for`."""
        pair = (tenant_id, tool)
        if pair not in self._newest:
            self._newest[pair] = contract_for(tenant_id=tenant_id, tool=tool)
        return self._newest[pair]

    def way_back(self, contract: Contract) -> dict[str, Any] | None:
        """What is stored with a dispatch so that the effect can be undone; None for one without a way back."""
        if not compensation.reversible(contract):
            return None
        undo = self.in_force(tenant_id=contract.tenant_id, tool=contract.compensating_tool)
        return compensation.snapshot(contract, undo)

    def stops(
        self, *, tenant_id: uuid.UUID, tool_id: uuid.UUID, run_id: uuid.UUID | None = None
    ) -> tuple[gate.Stop, ...]:
        """As :func:`stops`."""
        if tenant_id not in self._switches:
            rows = StopSwitch.everywhere.filter(tenant_id=tenant_id, lifted_at__isnull=True)
            self._switches[tenant_id] = list(rows.select_related("set_by").order_by("set_at", "id"))
        if tool_id not in self._paused:
            rows = Tool.everywhere.filter(pk=tool_id, tenant_id=tenant_id, paused_at__isnull=False)
            self._paused[tool_id] = list(rows.values_list("paused_reason", "paused_by__name"))
        found = [
            gate.Stop(
                "tool" if row.tool_id else "run" if row.run_id else "tenant", row.reason, str(row.set_by)
            )
            for row in self._switches[tenant_id]
            if (row.tool_id is None and row.run_id is None)
            or row.tool_id == tool_id
            or (run_id is not None and row.run_id == run_id)
        ]
        return (*found, *(gate.Stop("paused", *row) for row in self._paused[tool_id]))


def _keep(contract: Contract) -> None:
    if contract.status == Contract.Status.DRAFT:
        return
    with _lock:
        if len(_kept) >= _KEEP:
            _kept.clear()
        _kept[contract.pk] = contract
