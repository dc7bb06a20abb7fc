"""What pages and the API say about an action, as plain values. Everything that a person decides on is read from the shown
bytes, never from the rows beside them; rows add only what happened since (life, claim, decisions)."""

from approvals.present.after import After, after
from approvals.present.chased import Chased, chased
from approvals.present.known import Known, known
from approvals.present.paused import Paused, paused
from approvals.present.question import Question, question
from approvals.present.rows import Listing, listing
from approvals.present.sheet import Sheet, sheet

__all__ = [
    "After",
    "Chased",
    "Known",
    "Listing",
    "Paused",
    "Question",
    "Sheet",
    "after",
    "chased",
    "known",
    "listing",
    "paused",
    "question",
    "sheet",
]
