"""The pump: everything that happens at the children. One thread: sockets, deaths, time limits, spawning."""

import logging
import os
import selectors
import signal
import uuid
from collections.abc import Mapping
from typing import Any

from runs.engine.types import Outcome, Plan, Stored
from runs.node.board import Board, Question
from runs.node.children import Child, Entry
from runs.node.clock import boot
from runs.node.wire import BrokenFrame
from runs.node.work import NOT_STARTED, Report

log = logging.getLogger(__name__)

R, W = selectors.EVENT_READ, selectors.EVENT_WRITE
SCAN = 0.1
IDLE = 1.0
#: A child that was told to stop something has so long to do it before main goes on without it.
OBEY = 2.0
#: Planning has a limit of its own in the child; beyond both limits main steps in.
PLANNING = 6.0
#: A child that dies young is started again more and more slowly.
YOUNG, SLOWEST = 5.0, 5.0
#: A child that did not start its steps in time gets nothing more for so many seconds.
REST = 1.0
#: How a child ends whose agent does not come back: by the kernel's timer, or by itself after the last alarm.
AGENT_HUNG = (-signal.SIGPROF, 70)
_ENDINGS = {
    "timeout": "timeout",
    "silent": "timeout",
    "lost": "lost",
    "drain": "drained",
    "cancel": "cancelled",
}


class Pump:
    """Owns the selector. ``pools`` are kind → (processes, places in each)."""

    def __init__(
        self, board: Board, *, pools: Mapping[str, tuple[int, int]], lock: int, environment: Mapping[str, str]
    ) -> None:
        self.board, self.pools, self.lock, self.environment = board, dict(pools), lock, dict(environment)
        self.selector = selectors.DefaultSelector()
        self.starts: list[tuple[float, str]] = []
        self.early_deaths = dict.fromkeys(pools, 0)
        self.retiring: set[Child] = set()

    def run(self) -> None:
        """The thread. Ends when the board says so, with all children dead."""
        self.selector.register(self.board.nudge, R)
        for kind, (count, _) in self.pools.items():
            for _number in range(count):
                self._start(kind)
        scan_at = 0.0
        while not self.board.stopped:
            for key, mask in self.selector.select(self._pause(scan_at)):
                if key.data is None:
                    os.eventfd_read(self.board.nudge)
                elif mask & R and not key.data[1].dead:
                    # Its death may stand earlier in this very list.
                    key.data[0](key.data[1])
            self._write_waiting()
            self.board.pumped_at = boot()
            if boot() >= scan_at:
                scan_at = boot() + SCAN
                self._scan()
                self.board.leash.look()
        self._end_all()

    def _pause(self, scan_at: float) -> float:
        busy = any(child.inflight for child in self.board.children) or self.starts or self.retiring
        return max(0.0, scan_at - boot()) if busy else IDLE

    # Starting and dying

    def _start(self, kind: str) -> None:
        child = Child(kind, self.pools[kind][1], lock=self.lock, environment=self.environment)
        self.selector.register(child.link.sock, R, (self._frames, child))
        self.selector.register(child.pidfd, R, (self._died, child))
        with self.board.lock:
            self.board.children.append(child)

    def _died(self, child: Child) -> None:
        # What it sent before it died is good.
        self._frames(child, to_the_end=True)
        hung = self._last_words(child)
        self.selector.unregister(child.link.sock)
        self.selector.unregister(child.pidfd)
        child.kill_group()
        with self.board.lock:
            self.board.children.remove(child)
            held = [entry for entry in child.inflight.values() if not entry.abandoned]
            for entry in held:
                # One that was about to be told whether it may begin is reported by who was about to tell it.
                if not entry.asking:
                    self.board.report(self._outcome_of_dead(entry, innocent=hung))
            child.inflight = {}
            child.dead = True
            self.board.buried.append(child)
            self.board.work = True
            self.board.lock.notify_all()
        self.retiring.discard(child)
        child.bury()
        if self.board.draining:
            return
        if not child.leaving:
            log.warning(
                "child %s (%s) ended with code %s, %d steps in hand",
                child.pid,
                child.kind,
                child.process.returncode,
                len(held),
            )
        self._start_again(child)

    def _last_words(self, child: Child) -> bool:
        """Reports that lay ready while an agent was asked count. True: it was that agent, which never answered, that
        brought the child down; its step has ended, and a person takes over."""
        rows, place = child.last_words.read()
        hung = place >= 0 and child.process.poll() in AGENT_HUNG
        with self.board.lock:
            for at, row in enumerate(rows):
                report = Report(*row)
                entry = child.inflight.get(uuid.UUID(report.step))
                if entry is None:
                    continue
                if at == place and (hung or entry.why == "timeout"):
                    hung = True
                    report.plan = {
                        "version": entry.claimed.version,
                        "error": "The agent did not answer in time.",
                    }
                elif entry.claimed.kind == "plan":
                    # Nothing was planned: it is lost like any other step.
                    continue
                self._done(child, report)
        return hung

    def _outcome_of_dead(self, entry: Entry, *, innocent: bool = False) -> Outcome:
        """Of a step whose child is dead. One that may have been sent is lost, whatever the reason: only the engine may say
        what that means for its intent."""
        given_back = self.board.draining or (innocent and entry.dispatch_id is None)
        ending = _ENDINGS.get(entry.why, "drained" if given_back else "lost")
        if entry.dispatch_id is not None:
            ending = "lost" if ending in ("drained", "cancelled") else ending
        code, text = {
            "silent": ("no_progress", "It reported progress, then none for too long, and was ended."),
            "timeout": ("timeout", f"It took longer than {entry.claimed.timeout_seconds:g} s and was ended."),
            "cancelled": ("cancelled", "It was ended because the task was cancelled."),
            "drained": ("drained", "The node was stopped."),
        }.get(
            "silent" if entry.why == "silent" else ending,
            ("child_died", "The process that worked on it died."),
        )
        return Outcome(entry.claimed, ending, error_code=code, error_text=text, dispatch_id=entry.dispatch_id)  # type: ignore[arg-type]

    def _start_again(self, child: Child) -> None:
        if child.ready and boot() - child.started > YOUNG:
            self.early_deaths[child.kind] = 0
        elif not child.leaving:
            self.early_deaths[child.kind] += 1
        deaths = self.early_deaths[child.kind]
        # The first few at once: a step that kills its child must not stop the others.
        delay = 0.0 if deaths <= 3 else min(SLOWEST, 0.1 * 2.0 ** (deaths - 3))
        if delay:
            self.starts.append((boot() + delay, child.kind))
        else:
            self._start(child.kind)

    def _end_all(self) -> None:
        for child in list(self.board.children):
            child.kill()
            child.process.wait(5)
            child.kill_group()
        self.selector.close()

    # The wire

    def _write_waiting(self) -> None:
        for child in self.board.children:
            left = bool(child.link.waiting) and child.link.flush()
            key = self.selector.get_key(child.link.sock)
            wanted = R | W if left else R
            if key.events != wanted:
                self.selector.modify(child.link.sock, wanted, key.data)

    def _frames(self, child: Child, *, to_the_end: bool = False) -> None:
        try:
            messages, closed = child.link.receive(to_the_end=to_the_end)
        except BrokenFrame:
            log.exception("child %s (%s) sent what is no frame: it is ended", child.pid, child.kind)
            child.kill()
            return
        with self.board.lock:
            for message in messages:
                self._take(child, message)
        if closed and not to_the_end:
            # Its death arrives on its own.
            child.kill()

    def _take(self, child: Child, message: dict[str, Any]) -> None:
        """One frame; the caller holds the board's lock."""
        if "hello" in message:
            child.ready = True
            self.board.work = True
            self.board.lock.notify()
        if message.get("bye"):
            child.leaving = True
        for row in message.get("done", ()):
            self._done(child, Report(*row))
        for step, fence in message.get("begin", ()):
            entry = child.inflight.get(uuid.UUID(step))
            if entry is not None and entry.claimed.fence == fence and not entry.abandoned:
                entry.asking = True
                self.board.questions.append(Question(child, entry))
                self.board.lock.notify()
        for step, fence in message.get("progress", ()):
            entry = child.inflight.get(uuid.UUID(step))
            if entry is not None and entry.claimed.fence == fence:
                entry.progressed = boot()
        for step, fence in message.get("ack", ()):
            entry = child.inflight.get(uuid.UUID(step))
            if entry is not None and entry.claimed.fence == fence:
                entry.acknowledged = True

    def _done(self, child: Child, report: Report) -> None:
        entry = child.inflight.get(uuid.UUID(report.step))
        if entry is None or entry.claimed.fence != report.fence:
            return
        del child.inflight[entry.claimed.step_id]
        if report.error_code == NOT_STARTED:
            # Others may have room; to give it the same steps again at once would only turn in a circle.
            child.rests_until = boot() + REST
        if entry.why == "lost" and report.ending in ("lost", "drained", "waiting") and not _alone(entry):
            # Whoever has the step now knows better.
            return
        if entry.abandoned and report.ending not in ("succeeded", "unknown"):
            return
        self.board.report(outcome_of(entry, report))

    # Limits

    def _scan(self) -> None:
        now = boot()
        for moment, kind in list(self.starts):
            if now >= moment:
                self.starts.remove((moment, kind))
                self._start(kind)
        with self.board.lock:
            children = list(self.board.children)
            held = [(child, entry) for child in children for entry in child.inflight.values()]
        for child, entry in held:
            if now >= self.board.terms.local_deadline(entry.renewed):
                self.stop(child, entry, "lost")
            elif now >= entry.wall and (child.kind == "cpu" or entry.why in ("", "cancel")):
                self.stop(child, entry, "timeout")
            elif entry.progressed and now >= entry.progressed + self.board.terms.progress and not entry.why:
                self.stop(child, entry, "silent")
            if (
                entry.why in ("timeout", "silent", "lost", "drain")
                and now >= entry.told_at + OBEY
                and not entry.abandoned
            ):
                self._disobeyed(child, entry)
        for child in list(self.retiring):
            if all(entry.abandoned for entry in child.inflight.values()):
                child.kill()

    def stop(self, child: Child, entry: Entry, why: str) -> None:
        """Tell a child to stop a step. The first reason stays, except that a time-out outranks a cancel."""
        with self.board.lock:
            if child.dead or (
                entry.why and not (entry.why == "cancel" and why in ("timeout", "silent", "lost", "drain"))
            ):
                return
            entry.why, entry.told_at, entry.acknowledged = why, boot(), False
            fixed = entry.dispatch_id is not None
        if child.kind == "cpu" and not (why in ("cancel", "drain") and (fixed or _effect(entry))):
            child.kill()
        elif why != "drain" or not fixed:
            self.board.send(child, {"stop": [[entry.claimed.step_id, entry.claimed.fence, why]]})

    def _disobeyed(self, child: Child, entry: Entry) -> None:
        """It was told to stop and still has not ended."""
        if child.kind == "io" and not entry.acknowledged:
            # Its loop is blocked, so nothing in it moves.
            log.warning("child %s (io) does not hear: it is ended", child.pid)
            child.kill()
            return
        if boot() < entry.told_at + PLANNING and entry.acknowledged and child.kind == "io":
            return
        if _alone(entry):
            # Nobody may take it while anything of it may still go on.
            log.warning("child %s (%s) is ended with a step that must not run twice", child.pid, child.kind)
            child.kill()
            return
        with self.board.lock:
            if child.dead or entry.abandoned or entry.claimed.step_id not in child.inflight:
                return
            entry.abandoned = True
            if entry.why != "lost" and not entry.asking:
                self.board.report(self._outcome_of_dead(entry))
            stuck = sum(e.abandoned for e in child.inflight.values())
            retire = not child.leaving and 2 * stuck >= child.slots
            child.leaving = child.leaving or retire
        if retire:
            # Half of its places are taken by steps that will not end: a fresh one replaces it.
            self.retiring.add(child)
            self._start(child.kind)


def _alone(entry: Entry) -> bool:
    """Whether another worker may take the step only when it is sure that this one works on it no more."""
    return bool(entry.claimed.spec.get("alone"))


def _effect(entry: Entry) -> bool:
    return entry.claimed.intent_id is not None


def outcome_of(entry: Entry, report: Report) -> Outcome:
    """What the engine records of a child's report. One that was told to go but ended before it sent has not happened."""
    plan = report.plan
    unsent = entry.dispatch_id is not None and not report.sent and report.ending != "succeeded"
    return Outcome(
        claimed=entry.claimed,
        ending="failed" if unsent else report.ending,  # type: ignore[arg-type]
        output=report.output,
        error_code=report.error_code,
        error_text=report.error_text,
        artifacts=[Stored(**file) for file in report.artifacts],
        plan=Plan(**plan) if plan is not None else None,
        dispatch_id=entry.dispatch_id,
        reference=report.reference,
        tokens=report.tokens,
        cost=report.cost,
        milliseconds=report.milliseconds,
    )
