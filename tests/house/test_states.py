"""The states in the documentation are those on the models, and the database keeps the final ones."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import connection

from accounts.arrows import arrows
from config.management.commands import unknown_outcomes
from config.management.commands.state_diagram import FILE, MACHINES, page

#: Final states by the table and trigger that keep them; a contract's last state is kept by its own verbs.
TRIGGERS = {
    "Run": "run_terminal",
    "Step": "step_terminal",
    "Intent": "intent_terminal",
    "PendingAction": "action_terminal",
}


def test_the_page_shows_the_arrows_of_the_models():
    assert (settings.BASE_DIR / FILE).read_text(encoding="utf-8") == page()


def test_the_page_of_unknown_outcomes_is_the_decision_table_of_the_code():
    fresh = unknown_outcomes.page()
    assert (settings.BASE_DIR / unknown_outcomes.FILE).read_text(encoding="utf-8") == fresh


@pytest.mark.django_db
@pytest.mark.parametrize("model", [m for m in MACHINES if m.__name__ in TRIGGERS], ids=lambda m: m.__name__)
def test_the_trigger_keeps_every_state_that_has_no_arrow_out(model):
    """Guards */migrations/0002_guards.py: the states named in CREATE TRIGGER."""
    left = {source for _, source in arrows(model)}
    final = {value for value, _ in model._meta.get_field("status").choices} - left
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = %s", [TRIGGERS[model.__name__]]
        )
        (definition,) = cursor.fetchone()
    kept = {
        value
        for value in {v for v, _ in model._meta.get_field("status").choices}
        if f"'{value}'" in definition
    }
    assert kept == final
