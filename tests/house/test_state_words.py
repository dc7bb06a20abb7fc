"""Every state that is stored has a look and a word; no two tones of one kind share a mark and a word."""

from typing import Any

import pytest

from approvals.models import PendingAction
from config.ui.states import STRANGE, WORDS, look
from runs.models import Run, Step
from tools.models import Intent

KINDS: dict[str, Any] = {"run": Run, "step": Step, "intent": Intent, "action": PendingAction}


@pytest.mark.parametrize("kind", KINDS)
def test_every_stored_state_has_a_look_and_no_look_is_left_over(kind: str) -> None:
    assert set(WORDS[kind]) == set(KINDS[kind].Status.values)


@pytest.mark.parametrize("kind", PendingAction.Kind.values)
def test_every_kind_of_open_question_says_what_a_run_waits_for(kind: str) -> None:
    assert (
        look("run", "WAITING_APPROVAL", kind) != look("run", "WAITING_APPROVAL", "nothing")
        or kind == "approve"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_states_that_differ_in_colour_differ_in_shape_too(kind: str) -> None:
    shapes: dict[str, set[str]] = {}
    for shown in WORDS[kind].values():
        shapes.setdefault(shown.mark, set()).add(shown.tone)
    assert {mark: tones for mark, tones in shapes.items() if len(tones) > 1 and mark != "undoing"} == {}


def test_a_state_nobody_knows_is_shown_rather_than_hidden() -> None:
    assert look("run", "NEW_STATE") == STRANGE
