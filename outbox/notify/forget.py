"""Notes go with what they are about."""

from collections.abc import Iterable

from outbox.models import Notification


def forget(about: Iterable[str]) -> int:
    """Delete every note about these; how many. Joins the caller's transaction. What is on its way finds no row and is
    not sent."""
    done, _ = Notification.everywhere.filter(about__in=list(about)).delete()
    return done
