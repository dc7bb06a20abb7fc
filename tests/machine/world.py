"""A small world around the engine: nodes, people, and how a story comes to rest."""

from __future__ import annotations

import contextlib
from typing import Any

import psycopg

from accounts.models import Membership, Role, User
from approvals import errors
from approvals.decide import decide
from approvals.models import PendingAction
from runs.engine.cancel import cancel
from runs.engine.expire import expire_due
from runs.engine.reclaim import reclaim, release_gone
from runs.engine.resume import resume_decided
from runs.engine.unblock import unblock
from runs.errors import AlreadyEnded
from runs.models import Run, Step
from tests.machine.nodes import FINAL, PLAIN, Act, Cast, Job, Nodes, gone
from tests.runs.engine import hands
from tools.models import Tool, WorkerProcess

REFUSALS = (
    errors.AlreadyDecided,
    errors.Superseded,
    errors.Stale,
    errors.Expired,
    errors.NotAllowed,
    errors.BadAnswer,
)
PAST_QUESTION = """
    UPDATE approvals_pendingaction SET expires_at = now() - interval '1 s' WHERE id = %s AND status = 'OPEN'"""


class World(Nodes):
    """One story."""

    def __init__(self, cast: Cast, database: psycopg.Connection[Any]) -> None:
        super().__init__(cast, database)
        self.change_rights(1)()

    # --- people

    def _open(self, pick: int, kind: str) -> PendingAction | None:
        rows = list(PendingAction.everywhere.filter(status="OPEN", kind=kind).order_by("pk"))
        found = rows[pick % len(rows)] if rows else None
        if found is not None:
            self.seen.append(found)
        return found

    def _decide(self, action: PendingAction, verdict: str, by: User | None = None) -> None:
        with contextlib.suppress(*REFUSALS):
            decide(
                action_id=action.pk,
                user_id=(by or self.cast.ben).pk,
                verdict=verdict,
                digest=action.digest,
                generation=action.generation,
                channel="web",
                authenticated="session",
                fresh=True,
                gesture=action.second_gesture,
                comment="because",
                reference="ref" if verdict == "happened" else "",
            )

    def answer(self, pick: int) -> Act | None:
        """Approve (mostly) or reject, by one who may, or by the submitter, who may not."""
        action = self._open(pick // 8, "approve")
        if action is None:
            return None
        verdict = "reject" if pick % 8 == 0 else "approve"
        by = {1: self.cast.ada, 2: self.cast.mira}.get(pick % 8, self.cast.ben)

        def decided() -> None:
            self._decide(action, verdict, by)
            if pick % 2:
                resume_decided()

        return decided

    def settle(self, pick: int) -> Act | None:
        """What is true at the moment of looking, or that nobody can know."""
        action = self._open(pick // 4, "settle")
        if action is None or action.intent is None:
            return None
        key = action.intent.key

        def look() -> None:
            truth = "happened" if self.ledger.happened(key) else "not_happened"
            self._decide(action, truth if pick % 4 else "nobody_knows")

        return look

    def old_tab(self, pick: int) -> Act | None:
        """Another answer to a question that was open once."""
        if not self.seen:
            return None
        action = self.seen[pick // 2 % len(self.seen)]
        verdict = "nobody_knows" if action.kind == "settle" else ("approve", "reject")[pick % 2]
        return lambda: self._decide(action, verdict, self.cast.mira)

    def let_question_end(self, pick: int) -> Act | None:
        action = self._open(pick, "approve")
        if action is None:
            return None

        def pass_by() -> None:
            self.database.execute(PAST_QUESTION, [action.pk])
            expire_due()

        return pass_by

    def cancel(self, pick: int) -> Act | None:
        if not self.runs:
            return None
        run = self.runs[pick % len(self.runs)][0]

        def ask() -> None:
            with contextlib.suppress(AlreadyEnded):
                cancel(run_id=run, user_id=self.cast.ada.pk)

        return ask

    def change_rights(self, pick: int) -> Act:
        """Ben may approve no more, or may again."""
        roles = [Role.APPROVER] if pick % 2 else [Role.SUBMITTER]
        rows = Membership.everywhere.filter(user=self.cast.ben)
        return lambda: rows.update(roles=roles)

    def pause_tool(self, pick: int) -> Act:
        paused = {
            "paused_at": "2026-01-01T00:00:00Z",
            "paused_by": self.cast.mira,
            "paused_reason": "a fault",
        }
        free = {"paused_at": None, "paused_by": None, "paused_reason": ""}
        rows = Tool.everywhere.filter(tenant=self.cast.tenant, name=(FINAL, PLAIN)[pick % 2])
        return lambda: rows.update(**(paused if pick % 4 < 2 else free))

    # --- the end of a story

    def come_to_rest(self) -> None:
        """Nothing new goes wrong; whoever was paused thaws, sends and reports; people answer. Every run must end."""
        for act in (self.change_rights(1), self.pause_tool(2), self.pause_tool(3)):
            act()
        for _ in range(40):
            # Pauses between tries pass: rest is what comes after them, however quick the machine is.
            self.database.execute(PAUSES_OVER)
            for job in list(self.jobs):
                self._bring_home(job)
            self._children_are_gone()
            for action in PendingAction.everywhere.filter(status="OPEN").order_by("pk"):
                self._decide(action, self._honest(action))
            for sweep in (reclaim, release_gone, expire_due, resume_decided, unblock):
                sweep()
            self._plan(self.nodes[0])
            if not self.jobs and not Run.everywhere.filter(finished_at__isnull=True).exists():
                return
        live = Step.everywhere.filter(run__finished_at__isnull=True)
        left = [str(row) for row in live.values_list("key", "status", "waiting_on")]
        raise AssertionError(f"it does not come to rest: {left}, {len(self.jobs)} jobs")

    def _bring_home(self, job: Job) -> None:
        if job.go is None and job.stop is None and job.claimed.intent_id and not job.dead:
            self._begin(job)
        if job.go:
            self._send(job)
        self.jobs.remove(job)
        hands.put(job.node, self._outcome(job, 1))

    def _children_are_gone(self) -> None:
        for child in WorkerProcess.objects.filter(kind="child", stopped_at__isnull=True):
            if child.pk not in {job.child for job in self.jobs}:
                gone(child.pk, "supervisor")

    def _honest(self, action: PendingAction) -> str:
        if action.kind == "settle":
            assert action.intent is not None
            return "happened" if self.ledger.happened(action.intent.key) else "not_happened"
        return {"approve": "approve", "take_over": "fail"}[action.kind]


PAUSES_OVER = "UPDATE runs_step SET not_before = now() WHERE status = 'PENDING' AND not_before > now()"
#: What a story writes. People and contracts stay.
WRITTEN = (
    "approvals_decision",
    "approvals_pendingaction",
    "runs_stepdependency",
    "runs_event",
    "runs_checkpoint",
    "runs_artifact",
    "runs_step",
    "runs_run",
    "tools_intent",
    "tools_workerprocess",
    "outbox_message",
    "accounts_auditentry",
    "accounts_audithead",
)


def empty(database: psycopg.Connection[Any]) -> None:
    """Between stories; the triggers that keep histories are at rest for these statements."""
    with database.transaction():
        database.execute("SET LOCAL session_replication_role = replica")
        database.execute("UPDATE tools_tool SET paused_at = NULL, paused_by_id = NULL, paused_reason = ''")
        for table in WRITTEN:
            database.execute(f"DELETE FROM {table}".encode())
