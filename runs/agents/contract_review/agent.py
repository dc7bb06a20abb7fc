"""The contract reviewer: one step per document, side by side; a step that joins them; a letter that a person approves.

When an approver asks for changes the letter is proposed anew: plain wishes are followed (``revise``), for any other the
submitter is asked for the words.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from runs.agents.base import Agent, AskPerson, Call, Context, Directive, Expected, Fail, Finish, StepView
from runs.agents.contract_review.revise import revise
from runs.agents.words import gettext_noop

REVIEW, JOIN, SEND = "contracts.review", "contracts.join", "mail.send"
#: How often a letter is proposed: what three approvals could not agree on is a matter for people.
PROPOSALS = 3


class ContractReview(Agent):
    """Reads contracts, quotes and rates their clauses, writes a report, and proposes a notice for the nearest deadline."""

    name = "contract-review"
    version = "2"
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
        """Reviews and join first, all at once; then the letter, until nobody asks for changes; then the end. When a limit
        cut the first plan short, what is missing of it is asked for again; what exists is not planned a second time."""
        if "join" not in context.live and context.status("join") is None:
            return self._start(context.input, context.today)
        if context.live:
            return []
        return self._letter(context)

    def summarise(self, summary: Mapping[str, Any], steps: Sequence[StepView]) -> dict[str, Any]:
        """Keeps whole what the letter rests on: the joins, what became of each proposal, and the words of the submitter."""
        kept = {step.key: [step.status, step.output, step.error_code, step.error_text] for step in steps}
        kept = {key: value for key, value in kept.items() if not key.startswith("review/")}
        return {**super().summarise(summary, steps), "kept": {**summary.get("kept", {}), **kept}}

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
        join = _ended(context, "join")
        if join is None or join.status != "SUCCEEDED":
            return [
                Fail("no_report", (join.error_text if join else "") or "The report could not be written.")
            ]
        letter = join.output.get("letter")
        if not letter or not context.input.get("notify"):
            return [Finish(self._result(join, "no_deadline" if not letter else "no_recipient", ""))]
        return self._propose(context, join)

    def _propose(self, context: Context, join: StepView) -> list[Directive]:
        """The first proposal, or what follows from what became of the last one."""
        made, wish, first = join, "", join.output["letter"]
        to = str(context.input["notify"])
        for round_ in range(1, PROPOSALS + 1):
            sent = _ended(context, _sending(round_))
            if sent is None:
                return [self._send(round_, made, first, to, wish)]
            again = _ended(context, f"join/{round_ + 1}")
            if sent.error_code != "changes_requested" or round_ == PROPOSALS:
                return [self._over(join, sent)]
            if again is None:
                return self._again(context, round_ + 1, join, made, sent)
            if again.status != "SUCCEEDED":
                return [self._over(join, sent)]
            made, wish = again, sent.error_text
        return [Fail("no_end", "The letter was proposed too often.")]

    def _over(self, join: StepView, sent: StepView) -> Directive:
        outcome = "sent" if sent.status == "SUCCEEDED" else sent.error_code or "not_sent"
        return Finish(self._result(join, outcome, sent.error_text))

    def _again(
        self, context: Context, round_: int, join: StepView, made: StepView, sent: StepView
    ) -> list[Directive]:
        """The letter with the wishes followed, or with the words of the submitter; the end when nobody gives any."""
        letter, wish = made.output["letter"], sent.error_text
        revised = revise(letter, wish)
        subject, body = revised.subject, revised.body
        if revised.left:
            asked = _ended(context, f"words/{round_}")
            if asked is None:
                return [_ask(f"words/{round_}", letter, wish)]
            if asked.status != "SUCCEEDED":
                return [self._over(join, sent)]
            subject = str(asked.output["subject"]).strip()
            body = str(asked.output["text"]).replace("\r\n", "\n")
        arguments = {"files": [], "letter": {**letter, "subject": subject, "body": body}}
        return [Call(f"join/{round_}", JOIN, arguments, title=gettext_noop("Write the letter anew"))]

    def _send(self, round_: int, made: StepView, first: Mapping[str, Any], to: str, wish: str) -> Directive:
        letter = made.output["letter"]
        why = str(first["why"])
        if wish:
            why = f"{why}\n\nProposal {round_}. An approver asked for changes to the one before: “{wish}”"
        return Call(
            _sending(round_),
            SEND,
            {
                "to": to,
                "subject": letter["subject"],
                "text": letter["body"],
                # The letter on paper: what the review says of this and of other contracts stays inside.
                "attachments": [made.output["notice"]],
            },
            title=to,
            target=to,
            why=why,
            evidence=first["facts"],
        )

    def _result(self, join: StepView, notice: str, why: str) -> dict[str, Any]:
        """``notice``: sent, no_deadline, no_recipient, rejected, changes_requested, approval_expired, nobody_knows, or a
        sender's code."""
        return {"summary": join.output["summary"], "notice": notice, "note": why}


def _sending(round_: int) -> str:
    """The step of one proposal. Each is an effect of its own, and only one of them is ever approved: the next is proposed
    when the one before was turned down."""
    return "send-notice" if round_ == 1 else f"send-notice/{round_}"


def _ended(context: Context, key: str) -> StepView | None:
    """An ended step, from the recent ones or from what the summary kept of it."""
    if step := context.last(key):
        return step
    kept = context.summary.get("kept", {}).get(key)
    if kept is None:
        return None
    status, output, code, text = kept
    return StepView(key, "call", "", status, output, code, text)


def _ask(key: str, letter: Mapping[str, Any], wish: str) -> AskPerson:
    """Asks the submitter, with the letter as it is to begin from."""
    texts = {
        "subject": {"type": "string", "title": gettext_noop("Subject"), "minLength": 1, "maxLength": 500},
        "text": {"type": "string", "title": gettext_noop("Letter"), "minLength": 1, "maxLength": 20_000},
    }
    texts["subject"]["default"], texts["text"]["default"] = letter["subject"], letter["body"]
    schema = {"type": "object", "properties": texts, "required": list(texts), "additionalProperties": False}
    question = gettext_noop("An approver asks for changes to the letter. How should it read?")
    return AskPerson(key, question, schema, role="submitter", why=f"The approver wrote: “{wish}”")


def _key(file: Mapping[str, Any]) -> str:
    """One step per document and task: its content names it."""
    return f"review/{file['sha256'][:24]}"


def _once(files: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Each content once, in the order given."""
    return list({file["sha256"]: file for file in reversed(files)}.values())[::-1]
