"""What a tool sees of the step it works for."""

from collections.abc import Callable, Mapping
from typing import IO, Any

from runs import blobs
from runs.budget import NOTHING, amount
from runs.node.clock import boot
from runs.node.work import Work
from tools.masking import Mask

MAX_FILES = 200
#: Reports of progress that come faster are left out, in seconds.
PROGRESS_EVERY = 0.5


class TooManyFiles(Exception):
    """A tool stored more files than one step may."""


class StepContext:
    """The lease, the inputs and the storage of one execution.

    ``key`` is the idempotency key of the effect, or the step's key when there is none; ``fence`` the token that goes with
    every call to the outside; ``deadline`` is on the clock of :func:`runs.node.clock.boot`. ``cancelled`` asks the tool to
    stop at a safe point; after ``lost`` nothing that it still does counts. A tool that calls ``progress`` promises to go on
    calling it: silent for too long (`COUNTERSIGN_PROGRESS_SECONDS`), it is ended.
    """

    __slots__ = (
        "_files",
        "_report",
        "_reported",
        "_stop",
        "cost",
        "deadline",
        "fence",
        "inputs",
        "key",
        "lease_until",
        "mask",
        "run",
        "step_key",
        "tenant",
        "tokens",
    )

    def __init__(self, work: Work, report: Callable[[], None] = lambda: None) -> None:
        """``report`` tells main that the step goes on; it may be called from any thread."""
        self._report, self._reported = report, 0.0
        self.key = work.intent_key or f"{work.run}:{work.key}"
        self.step_key = work.key
        self.run = work.run
        self.tenant = work.tenant
        self.fence = work.fence
        self.deadline = boot() + work.timeout
        self.lease_until = work.lease_until
        inputs = work.given.get("inputs")
        self.inputs: Mapping[str, Any] = inputs if isinstance(inputs, dict) else {}
        self._files: list[dict[str, Any]] = []
        self._stop = ""
        self.tokens, self.cost = NOTHING, NOTHING
        #: Takes the secrets of this call out of what it brings back.
        self.mask = Mask(work.spec.get("secrets") or {})

    def spend(self, *, tokens: int = 0, cost: Any = 0) -> None:
        """The call used so much: tokens, and money as decimal text in currency units (no float). It is booked on the budget
        of the run however the call ends."""
        self.tokens += amount(tokens)
        self.cost += amount(cost)

    def stop(self, why: str) -> None:
        """Main says: ``cancel``, ``lost``, ``drain``, ``timeout`` or ``silent``. The first reason stays."""
        self._stop = self._stop or why

    def progress(self) -> None:
        """The tool went on a little: a page read, a part received. Breathing is no progress."""
        if boot() >= self._reported + PROGRESS_EVERY:
            self._reported = boot()
            self._report()

    @property
    def stop_reason(self) -> str:
        return self._stop

    @property
    def cancelled(self) -> bool:
        return self._stop in ("cancel", "timeout", "silent", "drain")

    @property
    def lost(self) -> bool:
        return self._stop == "lost" or boot() >= self.lease_until

    @property
    def seconds_left(self) -> float:
        """Until the time limit of the step."""
        return self.deadline - boot()

    @property
    def files(self) -> list[dict[str, Any]]:
        return self._files

    def store(
        self,
        data: bytes | IO[bytes],
        *,
        name: str,
        media_type: str,
        kind: str = "output",
        metadata: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Puts a file into the artifact storage; it becomes an artifact of the run when the step is recorded. Gives its
        ``sha256``, ``size``, ``name`` and ``media_type``."""
        if len(self._files) >= MAX_FILES:
            raise TooManyFiles(f"A step may store {MAX_FILES} files.")
        if isinstance(data, bytes):
            data = self.mask.data(data)
        sha256, size, _ = blobs.put(data, media_type=media_type)
        stored = {
            "sha256": sha256,
            "size": size,
            "media_type": media_type,
            "name": name[:255],
            "kind": kind,
            "metadata": dict(metadata or {}),
        }
        self._files.append(stored)
        return {name: stored[name] for name in ("sha256", "size", "name", "media_type")}

    def open_artifact(self, sha256: str) -> IO[bytes]:
        """A stored file, by the checksum of its content, which is verified before the first byte is handed out."""
        file: IO[bytes] = blobs.open(blobs.uri_of(sha256))
        return file
