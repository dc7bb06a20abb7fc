"""Advice on leases: the formulas, and the command over what nodes measured."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models.functions import Now

from runs import histogram, lease_advice
from runs.lease_advice import Rules
from runs.models import LeaseMeasure
from tests.runs.engine import hands

RULES = Rules(lease=10, renew=1, failures=3, clock_error=0.5, longest_commit=2)


def test_l5_the_suggestion_grows_with_what_was_measured():
    """3 x (1 + 0.2) + 0.4 + 0.5 + 2 = 6.5, and a quarter more is 8.125: to the next half second."""
    assert lease_advice.suggested_lease(pause=0.4, renewal=0.2, rules=RULES) == 8.5
    assert lease_advice.suggested_lease(pause=5, renewal=0.2, rules=RULES) > 13


def test_l5_a_false_stop_needs_k_failures_in_a_row():
    single = lease_advice.single_failure(failed=9, renewals=989)
    assert single == pytest.approx(0.01)
    assert lease_advice.false_stop(single, 3) == pytest.approx(1e-6)
    assert lease_advice.single_failure(failed=0, renewals=0) == 0.5


def test_l5_two_work_on_a_step_only_as_long_as_a_pause_and_letting_go_last():
    assert lease_advice.window(pause=0.3, clock_error=0.5) == pytest.approx(1.8)
    assert lease_advice.window(pause=0.0, clock_error=3) == 0
    assert lease_advice.duplicate(1e-6, seconds=33, lease=10) == pytest.approx(1e-5, rel=0.01)
    assert lease_advice.duplicate(1e-6, seconds=0, lease=10) == pytest.approx(1e-6, rel=0.01)


def said(**options: Any) -> str:
    out = io.StringIO()
    call_command("lease_advice", stdout=out, **options)
    return out.getvalue()


@pytest.mark.django_db
def test_l5_the_command_reads_what_nodes_measured_today():
    """Guards `runs.selectors.lease_measures.measured`: two nodes count together, last week does not."""
    nodes = [hands.worker(), hands.worker()]
    for node in nodes:
        for what, seconds, count in (
            ("pause", 0.05, 5000),
            ("pause", 4.0, 100),
            ("renewal", 0.02, 990),
            ("failed", 0, 2),
        ):
            bucket = histogram.bucket(seconds)
            LeaseMeasure.objects.create(worker=node, hour=Now(), what=what, bucket=bucket, count=count)
    LeaseMeasure.objects.create(
        worker=nodes[0], hour="2020-01-01T00:00Z", what="pause", bucket=80, count=10**9
    )
    answer = json.loads(said(json=True))
    assert answer["measured"]["looks"] == 10_200
    assert answer["measured"]["pause"] == pytest.approx(4.0, rel=0.2)
    assert answer["measured"]["renewal"] == pytest.approx(0.02, rel=0.2)
    assert (answer["measured"]["renewals"], answer["measured"]["failed"]) == (1980, 4)
    assert answer["advice"]["lease"] > answer["settings"]["lease"] == 10
    assert answer["advice"]["without_renewal"] is None
    text = said()
    assert f"COUNTERSIGN_LEASE_SECONDS={answer['advice']['lease']:g}" in text
    assert "It is 10 now. That is too short" in text
    assert "stopped by mistake" in text


@pytest.mark.django_db
def test_l5_the_command_says_when_nothing_was_measured():
    text = said()
    assert "Nothing was measured in the last 24 h" in text
    assert "Suggested: COUNTERSIGN_LEASE_SECONDS=7" in text
