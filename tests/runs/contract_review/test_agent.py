"""What the reviewer proposes to send."""

from __future__ import annotations

from runs.agents.base import Call, Context, StepView
from runs.agents.contract_review.agent import ContractReview


def test_the_notice_carries_the_letter_on_paper_and_not_the_review() -> None:
    """Guards agent.py `_letter`: the attachment is `notice`, never a file of the report."""
    letter = {"subject": "Notice", "body": "We do not renew.", "why": "it ends", "facts": []}
    files = {"pdf": {"name": "report.pdf", "sha256": "a" * 64, "size": 1}}
    sheet = {"name": "notice.pdf", "sha256": "b" * 64, "size": 2}
    output = {"letter": letter, "notice": sheet, "files": files, "summary": {}}
    context = Context(
        goal="x",
        input={"files": [], "notify": "legal@halden.example"},
        summary={},
        recent=[StepView("join", "call", "contracts.join", "SUCCEEDED", output)],
        ended=1,
    )
    (call,) = ContractReview().next(context)
    assert isinstance(call, Call)
    assert call.arguments["attachments"] == [sheet]
    assert call.target == call.arguments["to"] == "legal@halden.example"


def test_what_a_limit_cut_off_the_first_plan_is_asked_for_again() -> None:
    """Guards agent.py `next`: while the join is neither there nor done, the whole first plan is wanted."""
    files = [{"sha256": sign * 64, "name": f"{sign}.txt", "size": 1} for sign in "abc"]
    done = [StepView("review/" + "a" * 24, "call", "contracts.review", "SUCCEEDED", {})]
    for live in ([], ["review/" + "b" * 24]):
        context = Context(goal="x", input={"files": files}, summary={}, recent=done, ended=1, live=live)
        keys = [call.key for call in ContractReview().next(context) if isinstance(call, Call)]
        assert keys == [*("review/" + sign * 24 for sign in "abc"), "join"]
