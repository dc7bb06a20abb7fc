"""Once more: a transaction that PostgreSQL gave up to end a deadlock has changed nothing and can be tried again (B31)."""

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import psycopg
from django.db import OperationalError

log = logging.getLogger(__name__)

TRIES = 3

P = ParamSpec("P")
T = TypeVar("T")


def again(verb: Callable[P, T]) -> Callable[P, T]:
    """For a verb that owns its transaction. The lock order of the house rules deadlocks out; whoever breaks it from outside
    (a console, a migration) costs a little time, not an error to a person. The last failure is raised."""

    @functools.wraps(verb)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> T:
        for left in range(TRIES - 1, -1, -1):
            try:
                return verb(*args, **kwargs)
            except OperationalError as error:
                if not left or not isinstance(error.__cause__, psycopg.errors.DeadlockDetected):
                    raise
                log.warning("%s was given up to end a deadlock and is tried again", verb.__name__)
        raise AssertionError("unreachable")

    return repeated
