"""How a node lives in a Celery worker: a step of its start-up, for workers that serve the queue `execution`."""

from typing import TYPE_CHECKING, Any

from celery import bootsteps

if TYPE_CHECKING:
    from runs.node.node import Node

QUEUE = "execution"

_node: "Node | None" = None


def wake() -> None:
    """There may be work for the node of this process, if it has one."""
    if _node is not None:
        _node.wake()


class NodeStep(bootsteps.StartStopStep):  # type: ignore[misc]
    """Starts the node after the pool and drains it when the worker stops."""

    requires = {"celery.worker.components:Pool"}

    def include_if(self, parent: Any) -> bool:
        return QUEUE in parent.app.amqp.queues.consume_from

    def start(self, parent: Any) -> None:
        global _node  # noqa: PLW0603 - one node per process
        # Not at import: the Celery app is loaded before Django's apps are.
        from runs.node.node import Node

        _node = Node()
        _node.start()

    def stop(self, parent: Any) -> None:
        global _node
        node, _node = _node, None
        if node is not None:
            node.drain()

    terminate = stop
