"""How the engine behaves: leases, pools, limits. Names carry `COUNTERSIGN_` in the environment.

Whether the lease settings fit each other is a system check: `runs.checks`.
"""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

POOL_KINDS = ("io", "thread", "cpu")


class Pool(NamedTuple):
    """One kind of children of a node: how many processes, and how many steps each holds at a time."""

    kind: str
    processes: int
    slots: int


class EngineEnv(BaseSettings):
    """Times are seconds, sizes megabytes (10**6 bytes) unless the name says otherwise."""

    model_config = SettingsConfigDict(
        env_prefix="COUNTERSIGN_", extra="ignore", frozen=True, env_ignore_empty=True
    )

    lease_seconds: float = Field(10, gt=0)
    renew_seconds: float = Field(1, gt=0)
    renew_failures: int = Field(3, ge=1)
    clock_error_seconds: float = Field(0.5, ge=0)
    longest_commit_seconds: float = Field(2, ge=0)
    progress_seconds: float = Field(60, gt=0)
    poll_seconds: float = Field(0.5, gt=0)
    claim_batch: int = Field(100, ge=1, le=1000)
    pools: str = "io:1:1200,thread:1:64,cpu:2:1"
    max_losses: int = Field(3, ge=1)
    drain_seconds: float = Field(5, ge=0)
    step_seconds: float = Field(300, gt=0)
    plan_seconds: int = Field(10, ge=1)
    parse_seconds: float = Field(60, gt=0)
    parse_memory_mb: int = Field(1024, ge=128)
    quiet_seconds: float = Field(60, ge=0)
    query_tries: int = Field(5, ge=1, le=100)
    approval_ttl_seconds: float = Field(259_200, gt=0)
    remind_seconds: int = Field(14_400, ge=0)
    escalate_seconds: int = Field(86_400, ge=1)
    sample_percent: float = Field(2, ge=0, le=100)
    step_up_seconds: float = Field(600, gt=0)
    orphan_grace_seconds: float = Field(60, ge=1)
    longest_lease_seconds: float = Field(3600, gt=0)
    silent_seconds: float = Field(900, ge=1)
    loop_steps: int = Field(10, ge=2)
    max_upload_mb: int = Field(50, ge=1)
    max_uploads: int = Field(50, ge=1)
    relay_batch: int = Field(100, ge=1)
    tenant_leases: int = Field(2000, ge=1)
    debt_factor: float = Field(0.1, ge=0)
    debt_half_life_seconds: float = Field(300, gt=0)
    retention_days: int = Field(0, ge=0)
    mcp_servers: str = ""
    webhook_patience_seconds: float = Field(432_000, ge=1)
    webhook_hosts: str = ""
    failpoints: str = ""

    @model_validator(mode="after")
    def _consistent(self) -> EngineEnv:
        _ = self.pool_list
        return self

    @property
    def webhook_host_list(self) -> list[str]:
        """Hosts of our own network that webhooks and chats may reach, in lower case, each with or without `:port`."""
        return [host.strip().lower() for host in self.webhook_hosts.split(",") if host.strip()]

    @property
    def pool_list(self) -> list[Pool]:
        """`kind:processes:slots`, comma separated; raises ValueError in plain words."""
        pools = []
        for part in self.pools.split(","):
            pieces = part.strip().split(":")
            if len(pieces) != 3 or pieces[0] not in POOL_KINDS or not all(n.isdecimal() for n in pieces[1:]):
                raise ValueError(
                    f"COUNTERSIGN_POOLS: {part!r} is not kind:processes:slots with kind "
                    f"{', '.join(POOL_KINDS)}; write for example io:1:1200,thread:1:64,cpu:2:1"
                )
            pool = Pool(pieces[0], int(pieces[1]), int(pieces[2]))
            if pool.processes < 1 or pool.slots < 1:
                raise ValueError(f"COUNTERSIGN_POOLS: {part!r} needs at least one process and one slot")
            pools.append(pool)
        if len({pool.kind for pool in pools}) != len(pools):
            raise ValueError("COUNTERSIGN_POOLS names a kind twice")
        return pools
