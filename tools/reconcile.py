"""Reconcile: what follows after a failure that leaves it open whether an effect happened (S8). One pure decision table;
no Django, no database.

The classes of far sides, in the order in which they are believed: it drops repeats of our key (and still remembers it) ·
it can be asked · it refuses what comes after its deadline · none of these. The first lets us send again; the second tells
us; the third only ends the time in which an old sender could still do harm; with the last a person has to say.

``docs/reference/unknown-outcomes.md`` is written from here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum


class Said(StrEnum):
    """The newest answer to the question whether it happened."""

    NOTHING = ""
    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


class By(StrEnum):
    """Who gave it."""

    FAR_SIDE = "far_side"
    PERSON = "person"


class Blocked(StrEnum):
    """What stands against going on after *it did not happen*: a time that is known, or a sender of whom nothing proves that
    it is gone."""

    NO = ""
    UNTIL = "until"
    SENDER = "sender"


class Next(StrEnum):
    """What the system does."""

    HAPPENED = "happened"
    NOT_HAPPENED = "not_happened"
    SEND_AGAIN = "send_again"
    ASK = "ask"
    WAIT = "wait"
    PERSON = "person"
    #: A person is asked, and the far side is asked again when nobody can send any more.
    PERSON_MEANWHILE = "person_meanwhile"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an effect whose outcome is open.

    ``keys``: the far side drops repeats of our key and still remembers it. ``again``: one more send is allowed (tries and
    time are left, and the task takes work). ``query``: its contract names a tool that can be asked now. ``asks``: it may be
    asked once more. ``too_early``: who said no looked while it could still be sent.
    """

    keys: bool = False
    again: bool = False
    query: bool = False
    asks: bool = False
    said: Said = Said.NOTHING
    by: By = By.FAR_SIDE
    blocked: Blocked = Blocked.NO
    too_early: bool = False


def decide(facts: Facts) -> Next:
    """The table. A *yes* is final. A *no* counts when nobody could send any more at the moment of the look."""
    if facts.said == Said.YES:
        return Next.HAPPENED
    if facts.said == Said.NO and facts.blocked == Blocked.NO and not facts.too_early:
        return Next.NOT_HAPPENED
    if facts.said == Said.NO and facts.by == By.PERSON:
        return Next.WAIT if facts.blocked != Blocked.NO else _look_again(facts)
    if facts.keys and facts.again:
        return Next.SEND_AGAIN
    if facts.said == Said.NO and facts.blocked == Blocked.UNTIL and facts.query and facts.asks:
        return Next.WAIT
    if facts.said == Said.NO and facts.blocked == Blocked.SENDER:
        return Next.PERSON_MEANWHILE if facts.query and facts.asks else Next.PERSON
    return _look_again(facts)


def _look_again(facts: Facts) -> Next:
    return Next.ASK if facts.query and facts.asks else Next.PERSON


#: The classes as rows of the reference page.
CLASSES: dict[str, Facts] = {
    "keys": Facts(keys=True, again=True),
    "query": Facts(query=True, asks=True),
    "deadline": Facts(),
    "none": Facts(),
}


def rows() -> Iterator[tuple[str, str, Next]]:
    """(class, situation, next) for every row of the reference page, in its order."""
    open_end, known_end = Blocked.SENDER, Blocked.UNTIL
    for name, start in CLASSES.items():
        # A far side that enforces its deadline ends the danger at a known time.
        alive = known_end if name == "deadline" else open_end
        yield name, "lost", decide(replace(start, blocked=alive))
        yield name, "gone", decide(start)
        if start.keys:
            yield name, "spent", decide(replace(start, again=False))
            yield name, "forgotten", decide(replace(start, keys=False))
        if start.query:
            yield name, "yes", decide(replace(start, said=Said.YES))
            yield name, "unsure", decide(replace(start, said=Said.UNSURE))
            yield name, "unsure_last", decide(replace(start, said=Said.UNSURE, asks=False))
            yield name, "no", decide(replace(start, said=Said.NO))
            yield name, "no_quiet", decide(replace(start, said=Said.NO, blocked=known_end, too_early=True))
            yield name, "no_alive", decide(replace(start, said=Said.NO, blocked=open_end, too_early=True))
            yield name, "no_early", decide(replace(start, said=Said.NO, too_early=True))
        person = replace(start, said=Said.NO, by=By.PERSON)
        yield name, "person_no", decide(person)
        if not start.keys:
            yield name, "person_no_alive", decide(replace(person, blocked=alive, too_early=True))
            yield name, "person_no_early", decide(replace(person, too_early=True))
        yield name, "person_yes", decide(replace(person, said=Said.YES))
