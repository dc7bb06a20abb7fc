"""The engine threads: results → commit → claim → send, and begin. Each has its own connection of Django's. Two are the
measured optimum: one writes while the other waits for the disk."""

import contextlib
import logging
import threading
import time
import uuid
from collections.abc import Sequence

import psycopg
from django.db import DatabaseError, connection, transaction

from accounts.failpoints import fp
from runs.engine import withhold
from runs.engine.begin import begin
from runs.engine.begin_many import Asked, begin_many
from runs.engine.claim import claim
from runs.engine.commit import LOST_CONNECTION, commit
from runs.engine.expire import expire_due
from runs.engine.fairness import PACE
from runs.engine.fate import not_recorded, strays
from runs.engine.let_in import let_next_in
from runs.engine.reclaim import reclaim, release_gone
from runs.engine.resume import resume_decided
from runs.engine.timers import end_waits
from runs.engine.types import Committed, Go, Outcome, Stop
from runs.node.board import Board, Pending, Question
from runs.node.children import Child, Entry
from runs.node.clock import boot
from runs.node.hints import Hints
from runs.node.lesser import lesser
from runs.node.origin import Watched
from runs.node.tuning import tune
from runs.node.work import reply_down
from tools import workers

log = logging.getLogger(__name__)

#: As Django raises them, and as its connection does when it is used directly.
DATABASE = (DatabaseError, psycopg.Error)
#: Tries of one begin, and of one outcome in each of its forms.
TRIES = 3
AGAIN_AFTER = 0.2


class Engine:
    """What all engine threads of a node do. ``poll`` in seconds."""

    def __init__(self, board: Board, hints: Hints, origin: Watched, *, poll: float) -> None:
        self.board, self.hints, self.origin, self.poll = board, hints, origin, poll
        self.duty = threading.Lock()
        self.duty_at = 0.0
        self.claim_at = 0.0
        self.stray_at = 0.0
        self.maybe_strays: set[tuple[uuid.UUID, int]] = set()

    def run(self) -> None:
        """One thread. An error of the database is waited out: results stay, leases decide."""
        while not self.board.stopped:
            questions, batch, rung = self._take()
            try:
                tune()
                self._answer_all(questions)
                if batch:
                    self._record(batch)
                self._bury()
                self._decided()
                if rung or self.board.work or boot() >= self.claim_at or self.board.wants_claim():
                    self._claim_all()
                # After what somebody rang for: the duties take several questions, and find what no bell told of.
                self._duties()
            except Exception as error:
                if not isinstance(error, DATABASE):
                    log.exception("an engine thread goes on after an error")
                self._broken(error)
            finally:
                with self.board.lock:
                    self.board.busy -= len(batch)
        connection.close()

    def _take(self) -> tuple[list[Question], list[Pending], bool]:
        """What is at hand, and whether somebody rang that there is something to claim."""
        board = self.board
        with board.lock:
            if not (board.results or board.questions or board.work or board.stopped or board.buried):
                board.lock.wait(self.poll)
            now = boot()
            if board.later:
                due = [pending for pending in board.later if pending.not_before <= now]
                board.later = [pending for pending in board.later if pending.not_before > now]
                board.results.extend(due)
            questions = [board.questions.popleft() for _ in range(len(board.questions))]
            early = [question for question in questions if question.not_before > now]
            board.questions.extend(early)
            batch = [board.results.popleft() for _ in range(min(len(board.results), board.batch))]
            board.busy += len(batch)
            rung, board.work = board.work, False
            return [question for question in questions if question.not_before <= now], batch, rung

    def _broken(self, error: Exception) -> None:
        if isinstance(error, DATABASE):
            log.warning("the database did not answer an engine thread: %s", str(error).strip().split("\n")[0])
        with contextlib.suppress(*DATABASE):
            connection.close()
        with self.board.lock:
            self.board.suspect = self.board.work = True
        time.sleep(AGAIN_AFTER)

    # Claim

    def _claim_all(self) -> None:
        """Not after every commit: steps that follow go on by themselves, and asking for others costs a transaction."""
        self.claim_at = boot() + self.poll
        self.board.work = False
        while self._claim() and not (self.board.results or self.board.questions):
            pass

    def _claim(self) -> bool:
        """Claims as much as the children can take; True when there may be more."""
        with self.board.room() as room:
            claimed = (
                claim(worker_id=self.board.worker_id, room=room, sent=boot(), most=self.board.most)
                if room
                else []
            )
            self.board.hand_out(claimed)
            return self.board.note_claim(room, claimed)

    # Begin

    def _answer_all(self, questions: Sequence[Question]) -> None:
        """The plain ones together, the rest one by one."""
        asked = [question for question in questions if not question.child.dead]
        replies: list[Go | None] = []
        if asked:
            try:
                replies = begin_many(
                    worker_id=self.board.worker_id,
                    asked=[Asked(one.entry.claimed, one.child.id, one.child.pid) for one in asked],
                )
                fp("begin.answered")
            except LOST_CONNECTION as error:
                # Perhaps it was permitted, perhaps not: asked again, begin finds out.
                with self.board.lock:
                    for question in asked:
                        question.not_before = boot() + AGAIN_AFTER
                        self.board.questions.append(question)
                self._broken(error)
                questions, asked = [question for question in questions if question not in asked], []
            except Exception:
                log.exception("%d questions could not be answered together: one by one", len(asked))
        answered = {id(one): go for one, go in zip(asked, replies, strict=False) if go is not None}
        for question in questions:
            if go := answered.get(id(question)):
                self._tell(question, go)
            else:
                self._answer(question)

    def _answer(self, question: Question) -> None:
        """Never raises: the outcomes beside it must not suffer."""
        child, claimed = question.child, question.entry.claimed
        if child.dead:
            self._unheard(question, None)
            return
        try:
            reply = begin(claimed=claimed, worker_id=self.board.worker_id, sender=child.id, pid=child.pid)
            fp("begin.answered")
            # Whatever stopped it may have left something to claim, the question to the agent for one.
            self.board.work = self.board.work or isinstance(reply, Stop)
        except Exception as error:  # noqa: BLE001 - whatever it is, the child still waits for an answer
            log.warning("begin of step %s failed: %s", claimed.step_id, str(error).split("\n", maxsplit=1)[0])
            self._ask_later(question, error)
            return
        self._tell(question, reply)

    def _tell(self, question: Question, reply: Go | Stop) -> None:
        """The child hears it, unless it is not there any more."""
        child, claimed = question.child, question.entry.claimed
        with self.board.lock:
            entry = question.entry
            there = child.inflight.get(claimed.step_id) is entry and not child.dead
            hears = there and not entry.abandoned
            entry.asking = False
            if hears:
                self._note(child, entry, reply)
        if not hears:
            self._unheard(question, reply)
            reply = Stop("lost", "too_late", "It was ended before it could begin.")
        if there:
            self.board.send(child, {"reply": [[claimed.step_id, claimed.fence, reply_down(reply)]]})

    @staticmethod
    def _note(child: Child, entry: Entry, reply: Go | Stop) -> None:
        if isinstance(reply, Go):
            # A call that only reads leaves no dispatch.
            entry.dispatch_id = reply.dispatch_id if entry.claimed.intent_id else None
        elif reply.why != "answered":
            # Begin itself has said what becomes of the step.
            del child.inflight[entry.claimed.step_id]

    def _ask_later(self, question: Question, error: Exception) -> None:
        """The child waits: nothing was sent yet, whatever the database has written."""
        question.tries += 1
        question.not_before = boot() + AGAIN_AFTER
        if isinstance(error, LOST_CONNECTION):
            self._broken(error)
        if isinstance(error, LOST_CONNECTION) or question.tries < TRIES:
            with self.board.lock:
                self.board.questions.append(question)
            return
        child, claimed = question.child, question.entry.claimed
        with self.board.lock:
            question.entry.asking = False
            child.inflight.pop(claimed.step_id, None)
            text = "Beginning it failed again and again; it was not sent."
            self.board.report(Outcome(claimed, "failed", error_code="begin_failed", error_text=text))
        if not child.dead:
            stop = Stop("lost", "begin_failed", text)
            self.board.send(child, {"reply": [[claimed.step_id, claimed.fence, reply_down(stop)]]})

    def _unheard(self, question: Question, reply: Go | Stop | None) -> None:
        """The child died, or its step was given up, before it could hear the answer: it has sent nothing."""
        claimed, text = question.entry.claimed, "The process that was to send it ended before it was told to."
        outcome: Outcome | None = None
        if isinstance(reply, Go) and claimed.intent_id is not None:
            outcome = Outcome(
                claimed, "failed", error_code="not_sent", error_text=text, dispatch_id=reply.dispatch_id
            )
        elif reply is None or isinstance(reply, Go):
            outcome = Outcome(claimed, "lost", error_code="child_died", error_text=text)
        elif reply.why == "answered":
            outcome = Outcome(claimed, "succeeded", output=reply.answer)
        if outcome is not None:
            with self.board.lock:
                self.board.report(outcome)

    # Commit

    def _record(self, batch: list[Pending]) -> None:
        outcomes = [pending.outcome for pending in batch]
        try:
            self._commit(outcomes)
        except Exception as error:
            if isinstance(error, LOST_CONNECTION):
                connection.close()
            else:
                log.exception("%d outcomes could not be recorded", len(batch))
            self._again(batch, blame=not isinstance(error, LOST_CONNECTION))
            with self.board.lock:
                self.board.suspect = True

    def _commit(self, outcomes: Sequence[Outcome]) -> Committed:
        with self.board.room() as room:
            done = commit(
                worker_id=self.board.worker_id,
                outcomes=outcomes,
                room=room,
                sent=boot(),
                kept=self.board.kept,
            )
            self.board.hand_out(done.next)
        if done.more:
            self.board.wake()
        if done.events:
            self.hints.add(done.events, {o.claimed.run_id: o.claimed.tenant_id for o in outcomes})
        if done.refused and withhold.stopped(worker_id=self.board.worker_id, outcomes=done.refused):
            self.board.wake()
        for outcome in done.refused:
            log.info("the outcome %s of step %s came too late", outcome.ending, outcome.claimed.step_id)
        return done

    def _again(self, batch: Sequence[Pending], *, blame: bool) -> None:
        """An error at COMMIT is itself unknown: what is in the database already is not written a second time (B44); the
        rest one by one, so that a bad item harms no neighbour, and a bad one in ever lesser form."""
        try:
            open_ones = not_recorded(
                worker_id=self.board.worker_id, outcomes=[pending.outcome for pending in batch]
            )
        except DATABASE as error:
            # Nobody knows yet: asked again later, before it is tried again.
            self._later(batch)
            self._broken(error)
            return
        kept = {id(outcome) for outcome in open_ones}
        left = [pending for pending in batch if id(pending.outcome) in kept]
        if blame and len(left) == 1 and len(batch) == 1:
            self._blame(left[0])
        elif blame and len(left) > 1:
            for pending in left:
                self._record([pending])
            return
        self._later(left)

    def _blame(self, pending: Pending) -> None:
        pending.tries += 1
        if pending.tries % TRIES == 0:
            pending.outcome = lesser(pending.outcome, pending.tries // TRIES)
            log.error(
                "step %s is recorded in a lesser form (%s)",
                pending.outcome.claimed.step_id,
                pending.outcome.ending,
            )

    def _later(self, batch: Sequence[Pending]) -> None:
        with self.board.lock:
            for pending in batch:
                if pending.tries >= 4 * TRIES:
                    log.critical(
                        "step %s cannot be recorded; its lease decides", pending.outcome.claimed.step_id
                    )
                    continue
                pending.not_before = boot() + AGAIN_AFTER * (1 + pending.tries)
                self.board.later.append(pending)

    # What comes round

    def _bury(self) -> None:
        """Children that died: recorded as proof that they cannot send any more."""
        with self.board.lock:
            dead = list(self.board.buried)
            self.board.buried.clear()
        for child in dead:
            self._bury_one(child)

    def _bury_one(self, child: Child) -> None:
        try:
            with transaction.atomic(durable=True):
                workers.gone(worker_id=child.id, how="supervisor")
        except DATABASE:
            with self.board.lock:
                self.board.buried.append(child)
            raise

    def _decided(self) -> None:
        """The bell said that a question was answered, or that a resource is free: one of our threads acts on it at once."""
        with self.board.lock:
            heard, self.board.decided = self.board.decided and not self.board.draining, False
            freed, self.board.freed = self.board.freed and not self.board.draining, False
        if heard:
            resume_decided()
        if freed and let_next_in():
            self.board.wake()

    def _duties(self) -> None:
        """Finds work whose bell was lost. One thread at a time, once per poll."""
        if boot() < self.duty_at or self.board.draining or not self.duty.acquire(blocking=False):
            return
        try:
            self.duty_at = boot() + self.poll
            self.origin.look()
            PACE.look()
            if sum([reclaim(), release_gone(), resume_decided(), expire_due(), end_waits()]):
                self.board.wake()
            self._look_for_strays()
        finally:
            self.duty.release()

    def _look_for_strays(self) -> None:
        """After a lost answer: steps that are ours in the database while no child has them. Seen twice with no call of
        ours in between, they are given back."""
        if not self.board.suspect:
            return
        with self.board.lock:
            # Before the look: another thread may lose an answer during it, and its suspicion must stay.
            self.board.suspect = False
            quiet = all(start >= self.stray_at for start in self.board.calls.values())
        known = self.board.holds()
        found = strays(worker_id=self.board.worker_id, known=known)
        now = {(claimed.step_id, claimed.fence) for claimed in found}
        sure = [claimed for claimed in found if (claimed.step_id, claimed.fence) in self.maybe_strays]
        self.maybe_strays, self.stray_at = now, boot()
        self.board.suspect = self.board.suspect or bool(found)
        if sure and quiet:
            log.warning("%d steps whose claim got lost are given back", len(sure))
            with self.board.lock:
                for claimed in sure:
                    text = "The answer to its claim was lost."
                    self.board.report(Outcome(claimed, "drained", error_code="stray", error_text=text))
