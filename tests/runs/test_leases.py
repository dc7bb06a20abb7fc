"""The rules of a lease: its length, the pace of renewals, the local deadline, the checks."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from runs import histogram
from runs.checks import require_sound
from runs.leases import Terms, problems, shortest

TERMS = Terms(lease=10, tick=1, failures=3, clock_error=0.5)


def set_to(settings: Any, **changes: Any) -> None:
    settings.COUNTERSIGN = settings.COUNTERSIGN.model_copy(update=changes)


def test_l5_the_shortest_lease_is_that_of_the_formula():
    assert shortest(failures=3, renew=1, clock_error=0.5, longest_commit=2) == 5.5


@pytest.mark.parametrize(
    ("changes", "id", "named"),
    [
        ({"lease_seconds": 5.4}, "runs.E001", "COUNTERSIGN_LEASE_SECONDS is 5.4"),
        ({"renew_failures": 8}, "runs.E001", "8 renewals of 1 s"),
        ({"renew_seconds": 4, "renew_failures": 1}, "runs.E002", "COUNTERSIGN_RENEW_SECONDS is 4"),
    ],
)
def test_l5_check_refuses_a_lease_that_healthy_workers_would_lose(settings, changes, id, named):
    """Guards `runs.checks.lease_settings`: `manage.py check` names the setting, the rule and what to do."""
    set_to(settings, **changes)
    with pytest.raises(SystemCheckError) as refused:
        call_command("check")
    assert id in str(refused.value)
    assert named in str(refused.value)
    assert "HINT: Set COUNTERSIGN_" in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "id"),
    [({"poll_seconds": 11}, "runs.W001"), ({"progress_seconds": 0.5}, "runs.W002")],
)
def test_l5_check_warns_of_what_is_only_unwise(settings, changes, id):
    set_to(settings, **changes)
    said = io.StringIO()
    call_command("check", stderr=said)
    assert id in said.getvalue()
    require_sound(settings.COUNTERSIGN)


def test_l5_a_node_does_not_start_with_such_a_lease(settings):
    """Celery runs the checks and does not listen to them."""
    set_to(settings, lease_seconds=3)
    with pytest.raises(ImproperlyConfigured, match=r"not started.*COUNTERSIGN_LEASE_SECONDS is 3"):
        require_sound(settings.COUNTERSIGN)


def test_l5_the_defaults_are_sound(settings):
    assert problems(settings.COUNTERSIGN) == []


def renewals(terms: Terms) -> list[float]:
    """The parts of the remaining lease after which it is renewed, by looks that come every tick, when every other fails."""
    parts, now, sent = [], 0.0, 0.0
    renew_at = terms.next_renewal(now, sent)
    asked = now
    for look in range(60):
        now += terms.tick
        if terms.due(now, renew_at):
            parts.append((now - asked) / (sent + terms.lease - asked))
            if look % 2:
                sent = now
            asked, renew_at = now, terms.next_renewal(now, sent)
    return parts


def test_l4_a_lease_is_renewed_at_a_third_to_a_half_of_what_remains():
    parts = [part for _ in range(50) for part in renewals(Terms(lease=10, tick=0.25))]
    assert len(parts) > 150
    assert min(parts) >= 1 / 3
    assert max(parts) <= 1 / 2
    assert len({round(part, 3) for part in parts}) > 5


def test_l4_failures_in_a_row_fit_before_the_local_deadline():
    now, sent = 0.0, 0.0
    for _ in range(TERMS.failures):
        now = TERMS.next_renewal(now, sent)
    assert now < TERMS.local_deadline(sent) == 9.5


def test_a_quantile_is_never_too_small_and_a_fifth_too_large_at_most():
    seconds = [0.0004 * 1.1**n for n in range(120)]
    counts: dict[int, int] = {}
    for one in seconds:
        counts[histogram.bucket(one)] = counts.get(histogram.bucket(one), 0) + 1
    for share in (0.5, 0.99, 1.0):
        true = seconds[round(share * len(seconds) + 0.499) - 1]
        assert max(true, 0.001) <= histogram.quantile(counts, share) <= max(true * 1.19, 0.001)
    with pytest.raises(ValueError, match="nothing"):
        histogram.quantile({}, 0.99)
