"""An approver asks for changes: plain wishes are followed, the submitter writes the rest, and it comes to an end."""

from __future__ import annotations

from typing import Any

import pytest

from runs.agents.base import AskPerson, Call, Context, Finish, StepView
from runs.agents.contract_review.agent import PROPOSALS, ContractReview
from runs.agents.contract_review.revise import revise

LETTER = {
    "subject": "Notice",
    "body": "Dear Sir or Madam,\n\nWe do not renew.\n\nPlease confirm receipt of this message.\n\nKind regards\n",
    "why": "it ends",
    "facts": [],
}
PAPER = {"name": "notice.pdf", "sha256": "b" * 64, "size": 2}


def joined(key: str = "join", **letter: Any) -> StepView:
    output = {"letter": {**LETTER, **letter}, "notice": PAPER, "summary": {}}
    return StepView(key, "call", "contracts.join", "SUCCEEDED", output)


def turned_down(key: str, comment: str, code: str = "changes_requested") -> StepView:
    return StepView(key, "call", "mail.send", "FAILED", None, code, comment)


def after(*steps: StepView, folded: int = 0) -> Any:
    """The one directive after these steps, of which the first ``folded`` are in the summary alone."""
    agent = ContractReview()
    summary = agent.summarise({}, steps[:folded])
    given = {"files": [], "notify": "legal@halden.example"}
    context = Context("x", given, summary, recent=steps[folded:], ended=len(steps))
    (directive,) = agent.next(context)
    return directive


@pytest.mark.parametrize("folded", [0, 2, 3])
def test_a_plain_wish_is_followed_in_text_and_on_paper(folded: int) -> None:
    """Guards agent.py `_again` and `summarise`: whether recent or folded, the agent knows what was said."""
    steps = [joined(), turned_down("send-notice", 'Replace "Kind regards" with "Yours faithfully"')]
    anew = after(*steps, folded=min(folded, 2))
    assert isinstance(anew, Call)
    assert (anew.key, anew.arguments["letter"]["body"][-17:]) == ("join/2", "Yours faithfully\n")
    second = after(*steps, joined("join/2", body=anew.arguments["letter"]["body"]), folded=folded)
    assert isinstance(second, Call)
    assert (second.key, second.arguments["text"]) == ("send-notice/2", anew.arguments["letter"]["body"])
    assert "Replace" in second.why


def test_what_is_no_plain_wish_is_asked_of_the_submitter() -> None:
    """Guards agent.py `_ask`: nothing is guessed, and the form begins with the letter as it is."""
    steps = [joined(), turned_down("send-notice", "Much friendlier, please")]
    asked = after(*steps)
    assert isinstance(asked, AskPerson)
    assert (asked.role, asked.schema["properties"]["text"]["default"]) == ("submitter", LETTER["body"])
    assert "Much friendlier" in asked.why
    words = StepView(
        "words/2", "ask", "", "SUCCEEDED", {"subject": " Our lease ", "text": "Dear all,\r\nthanks."}
    )
    anew = after(*steps, words)
    assert anew.arguments["letter"]["subject"] == "Our lease"
    assert anew.arguments["letter"]["body"] == "Dear all,\nthanks."
    silent = after(*steps, StepView("words/2", "ask", "", "FAILED", None, "expired", ""))
    assert isinstance(silent, Finish)
    assert silent.result["notice"] == "changes_requested"


def test_it_is_not_proposed_for_ever() -> None:
    """Guards agent.py `PROPOSALS`."""
    steps = [joined(), turned_down("send-notice", "Subject: A")]
    for round_ in range(2, PROPOSALS + 1):
        steps += [joined(f"join/{round_}"), turned_down(f"send-notice/{round_}", "Subject: B")]
    over = after(*steps)
    assert isinstance(over, Finish)
    assert (over.result["notice"], over.result["note"]) == ("changes_requested", "Subject: B")


def test_a_rejection_ends_it() -> None:
    over = after(joined(), turned_down("send-notice", "No.", "rejected"))
    assert over.result["notice"] == "rejected"


@pytest.mark.parametrize(
    ("wish", "subject", "part"),
    [
        ("Subject: Our lease", "Our lease", "We do not renew."),
        ("主题：我们的租约", "我们的租约", "We do not renew."),
        ("把“Kind regards”改成“此致”", "Notice", "此致"),
        ('Remove "We do not renew."', "Notice", "Dear Sir or Madam,\n\nPlease confirm"),
        ('- Add "By Friday."', "Notice", "By Friday.\n\nPlease confirm"),
    ],
)
def test_each_form_of_a_wish(wish: str, subject: str, part: str) -> None:
    revised = revise(LETTER, wish)
    assert (revised.subject, revised.left) == (subject, ())
    assert part in revised.body


@pytest.mark.parametrize(
    "wish", ['Replace "nothing of it" with "x"', "Subject:", 'Replace "Notice" with ""', "Shorter"]
)
def test_what_changes_nothing_is_left_to_a_person(wish: str) -> None:
    assert revise(LETTER, wish).left == (wish,)
