"""The contract reviewer: one step per document, side by side; a step that joins them; a letter that a person approves."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from runs.agents.base import Agent, Call, Context, Directive, Expected, Fail, Finish, StepView
from runs.agents.words import gettext_noop

REVIEW, JOIN, SEND = "contracts.review", "contracts.join", "mail.send"


class ContractReview(Agent):
    """Reads contracts, quotes and rates their clauses, writes a report, and proposes a notice for the nearest deadline."""

    name = "contract-review"
    version = "1"
    title = gettext_noop("Contract reviewer")
    description = gettext_noop(
        "Reads contracts, quotes the clauses that matter, rates their risk and writes a report. "
        "For the nearest deadline it proposes a notice by e-mail."
    )
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "files": {
                "type": "array",
                "title": gettext_noop("Contracts"),
                "description": gettext_noop("PDF, Word, text or Markdown."),
                "minItems": 1,
                "maxItems": 100,
                "format": "files",
                "items": {"type": "object"},
            },
            "notify": {
                "type": "string",
                "title": gettext_noop("Address for the notice"),
                "description": gettext_noop(
                    "Who receives the notice, if one is due. Nothing is sent before a person approves it."
                ),
                "format": "email",
                "maxLength": 254,
            },
        },
        "required": ["files"],
        "additionalProperties": False,
    }
    budget: ClassVar[Mapping[str, Any]] = {"steps": 120, "tool_calls": 120, "wall_seconds": 86_400}
    tools: ClassVar[Sequence[str]] = (REVIEW, JOIN, SEND)

    def next(self, context: Context) -> Sequence[Directive]:
        """Reviews and join first, all at once; then the letter; then the end. When a limit cut the first plan short, what
        is missing of it is asked for again; what exists is not planned a second time."""
        if "join" not in context.live and context.status("join") is None:
            return self._start(context.input, context.today)
        if context.live:
            return []
        return self._letter(context) if context.status("send-notice") is None else self._finish(context)

    def expected(self, input: Mapping[str, Any]) -> Sequence[Expected]:
        """What the plan preview shows."""
        steps = [Expected(f["name"], REVIEW, {"file": f}) for f in _once(input.get("files", []))]
        steps.append(Expected("", JOIN, {"files": list(input.get("files", []))}))
        if input.get("notify"):
            to = str(input["notify"])
            arguments = {"to": to, "subject": "Notice", "text": "The text follows from the contracts."}
            steps.append(Expected(to, SEND, arguments, target=to, conditional="deadline_found"))
        return steps

    def _start(self, given: Mapping[str, Any], today: str) -> list[Directive]:
        files = list(given["files"])
        reviews = [Call(_key(f), REVIEW, {"file": f}, title=f["name"]) for f in _once(files)]
        keys = [call.key for call in reviews]
        join = Call(
            "join",
            JOIN,
            {"files": files, "recipient": given.get("notify", ""), "today": today},
            after=dict.fromkeys(keys, "ended"),
            inputs=keys,
        )
        return [*reviews, join]

    def _letter(self, context: Context) -> list[Directive]:
        join = context.last("join")
        if join is None or join.status != "SUCCEEDED":
            return [
                Fail("no_report", (join.error_text if join else "") or "The report could not be written.")
            ]
        letter = join.output.get("letter")
        if not letter or not context.input.get("notify"):
            return [Finish(self._result(join, "no_deadline" if not letter else "no_recipient", ""))]
        to = str(context.input["notify"])
        arguments = {
            "to": to,
            "subject": letter["subject"],
            "text": letter["body"],
            # The letter on paper: what the review says of this and of other contracts stays inside.
            "attachments": [join.output["notice"]],
        }
        return [
            Call(
                "send-notice",
                SEND,
                arguments,
                title=to,
                target=to,
                why=str(letter["why"]),
                evidence=letter["facts"],
            )
        ]

    def _finish(self, context: Context) -> list[Directive]:
        join, sent = context.last("join"), context.last("send-notice")
        if join is None or sent is None:
            return [Fail("no_report", "The report is missing from what the task remembers.")]
        outcome = "sent" if sent.status == "SUCCEEDED" else sent.error_code or "not_sent"
        return [Finish(self._result(join, outcome, sent.error_text))]

    def _result(self, join: StepView, notice: str, why: str) -> dict[str, Any]:
        """``notice``: sent, no_deadline, no_recipient, rejected, approval_expired, nobody_knows, or a sender's code."""
        return {"summary": join.output["summary"], "notice": notice, "note": why}


def _key(file: Mapping[str, Any]) -> str:
    """One step per document and task: its content names it."""
    return f"review/{file['sha256'][:24]}"


def _once(files: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Each content once, in the order given."""
    return list({file["sha256"]: file for file in reversed(files)}.values())[::-1]
