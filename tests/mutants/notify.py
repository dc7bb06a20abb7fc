"""Guards of what people are told: no channel holds up a decision or another one, and no name breaks a letter."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_CHAT = "tests/outbox/test_chat.py"
_POST = "tests/outbox/test_post.py"
_TOLD = "tests/outbox/notes/test_told.py"
_HANGS = f"{_CHAT}::test_b55_b65_a_chat_that_hangs_delays_no_mail_and_no_decision"

NOTIFY = (
    Mutant(
        number="B55",
        guard="chat has a lane of its own",
        file="config/routes.py",
        old="    declare(notify.CHAT_TOPIC, [notify.CHATS], lane=CHAT)\n",
        new="    declare(notify.CHAT_TOPIC, [notify.CHATS], lane=MAIL)\n",
        tests=(_HANGS,),
    ),
    Mutant(
        number="B55",
        guard="mail that is down leaves the note in the page",
        file="outbox/notify/spread.py",
        old="    if channel == Channel.PAGE:\n        return Status.SENT\n",
        new="    if channel == Channel.PAGE:\n        return Status.PENDING\n",
        tests=(f"{_TOLD}::test_b55_a_channel_that_is_down_delays_no_decision",),
    ),
    Mutant(
        number="B65",
        guard="mail waits for no chat of the same subject",
        file="outbox/notify/spread.py",
        old='    return f"c:{reader}:{row.about}" if row.channel == Channel.CHAT else f"{reader}:{row.about}"\n',
        new='    return f"{reader}:{row.about}"\n',
        tests=(_HANGS,),
    ),
    Mutant(
        number="B65",
        guard="a chat that refuses fails alone",
        file="outbox/notify/chats.py",
        old="        else:\n            failures[errand.delivery.event_id] = error\n    failed(",
        new="        else:\n            raise error\n    failed(",
        tests=(f"{_CHAT}::test_b65_one_chat_that_refuses_costs_nobody_else_theirs",),
    ),
    Mutant(
        number="B65",
        guard="an event that is told again is no second note",
        file="outbox/notify/spread.py",
        old="        if delivery.tenant_id is None or not once(NAME, delivery.event_id):\n",
        new="        if delivery.tenant_id is None:\n",
        tests=(
            f"{_TOLD}::test_b65_an_event_told_often_is_one_note_and_a_decision_sent_often_is_one[5]",
            f"{_POST}::test_an_event_told_twice_is_one_note_each",
        ),
    ),
    Mutant(
        number="B65",
        guard="the page of an item says what was told and what failed",
        file="approvals/views/action.py",
        old='    context["told"] = told(tenant_id=action.tenant_id, action_id=action.pk)\n',
        new="",
        tests=(f"{_TOLD}::test_b65_the_page_of_an_item_says_who_was_told_and_what_failed",),
    ),
    Mutant(
        number="B65",
        guard="what was escalated is never off in the page",
        file="outbox/kinds.py",
        old="        return tuple(one for one in every if one != Timing.OFF) if channel in self.stays else every\n",
        new="        return every\n",
        tests=("tests/outbox/notes/test_choices.py::test_what_was_escalated_stays_in_the_page",),
    ),
    Mutant(
        number="B88",
        guard="a subject is one printable line",
        file="outbox/consumers/post.py",
        old='    plain = "".join(char if char.isprintable() else " " for char in text)\n    line = " ".join(plain.split())\n',
        new="    line = text\n",
        tests=(
            f"{_POST}::test_one_line_keeps_words",
            f"{_POST}::test_b88_no_subject_breaks_a_letter_or_its_neighbours",
        ),
    ),
    Mutant(
        number="B88",
        guard="one bad letter stops no other",
        file="outbox/consumers/post.py",
        old="            failures[delivery.event_id] = error\n    return failures\n",
        new="            raise\n    return failures\n",
        tests=(f"{_POST}::test_b88_a_letter_that_cannot_be_sent_blocks_and_repeats_no_other",),
    ),
    Mutant(
        number="B88",
        guard="an address that cannot be written is refused",
        file="outbox/consumers/post.py",
        old='    if not letter.to.rpartition("@")[0].isascii():\n',
        new="    if False:\n",
        tests=(f"{_POST}::test_b88_an_international_address_is_written_or_refused_alone",),
    ),
)
