"""Celery: chains of tasks over Valkey, late acknowledgement. Not durable: the broker keeps everything in memory."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import redis
import speak
from celery import Celery, chain

AT_ONCE = 2
app = Celery("celery_peer", broker=speak.broker(), backend=speak.broker())
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
)
store = redis.Redis.from_url(speak.broker())


@app.task(name="step")
def step(before: Any, k: int, n: int, name: str) -> dict[str, Any]:
    if name:
        store.rpush(name, str(time.time()))
    if k + 1 == n:
        store.incr("done")
    return {"k": k, "text": speak.TEXT}


@app.task(name="slow")
def slow(before: Any, k: int, seconds: float) -> int:
    speak.started(k)
    time.sleep(seconds)
    return k


def first(k: int) -> list[None]:
    """A task in a chain gets what the one before it returned; the first gets nothing."""
    return [None] if k == 0 else []


def count(steps: int, name: str = "") -> None:
    chain(*[step.s(*first(k), k, steps, name) for k in range(steps)]).apply_async()


def obey(order: dict[str, Any]) -> dict[str, Any]:
    steps = order.get("steps", 0)
    match order["do"]:
        case "alone":
            store.delete("alone")
            count(steps, "alone")
            while store.llen("alone") < steps:
                time.sleep(0.01)
            return {"ends": [float(end) for end in store.lrange("alone", 0, -1)]}
        case "slow":
            chain(*[slow.s(*first(k), k, order["seconds"]) for k in range(steps)]).apply_async()
            return {"started": True}
    raise ValueError(f"no such order: {order['do']}")


def main(name: str) -> None:
    """The worker is a child of this process, as everybody starts it."""
    celery = str(Path(sys.executable).parent / "celery")
    options = ["--pool", "prefork", "-c", str(AT_ONCE), "-l", "ERROR", "-n", f"{name}@peer"]
    with subprocess.Popen(
        [celery, "-A", "celery_peer", "worker", *options, "--without-gossip", "--without-mingle"],
        cwd=Path(__file__).parent,
        stdout=sys.stderr,
    ):
        while not app.control.ping(destination=[f"{name}@peer"], timeout=0.5):
            pass
        speak.say(ready=True)
        while True:
            speak.say(**obey(speak.hear()))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["setup"]:
            store.flushdb()
        case ["hand in", runs, steps]:
            store.set("done", 0)
            for _ in range(int(runs)):
                count(int(steps))
        case [_, name]:
            main(name)
