"""Names that never change. No database."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tools.keys import LONGEST, key_for, request_digest

TENANT, LINEAGE = uuid.UUID(int=1), uuid.UUID(int=2)
REQUEST: dict[str, Any] = {
    "tenant_id": TENANT,
    "key": "k",
    "tool": "mail.send",
    "contract_digest": "c" * 64,
    "arguments": {"to": "a@example.org", "n": 1},
    "target": "a@example.org",
}
CHANGES = [
    {"tenant_id": LINEAGE},
    {"key": "l"},
    {"tool": "mail.sent"},
    {"contract_digest": "d" * 64},
    {"arguments": {"to": "a@example.orh", "n": 1}},
    {"arguments": {"to": "a@example.org", "n": "1"}},
    {"arguments": {"to": "a@example.org"}},
    {"arguments": {"to": "a@example.org", "n": 1, "more": None}},
    {"target": "a@example.orh"},
]


@pytest.mark.parametrize("change", CHANGES)
def test_b52_one_changed_part_is_another_request(change):
    """Guards ``tools/keys.py`` (``request_digest``): each part alone changes the digest, so an approval of the one
    request is no approval of the other."""
    assert request_digest(**{**REQUEST, **change}) != request_digest(**REQUEST)


def test_one_request_is_one_digest():
    again = {**REQUEST, "arguments": {"n": 1.0, "to": "a@example.org"}}
    assert request_digest(**again) == request_digest(**REQUEST)


def key(**changes: Any) -> str:
    given: dict[str, Any] = {
        "tenant_id": TENANT,
        "lineage": LINEAGE,
        "step_key": "notice",
        "tool": "mail.send",
    }
    return key_for(**{**given, **changes})


def test_the_key_is_made_of_tenant_lineage_step_and_tool():
    assert key() == f"{TENANT.hex}:{LINEAGE.hex}:notice:mail.send"
    assert key() == key(), "never a retry number"


@pytest.mark.parametrize(
    "change",
    [{"tenant_id": LINEAGE}, {"lineage": TENANT}, {"step_key": "undo/notice"}, {"tool": "mail.sent"}],
)
def test_each_part_makes_another_key(change):
    assert key(**change) != key()


def test_a_separator_inside_a_step_key_does_not_mix_two_keys_up():
    assert key(step_key="a:b", tool="c") != key(step_key="a", tool="b.c")
    with pytest.raises(ValueError, match="colon"):
        key(step_key="a", tool="b:c")


def test_long_step_keys_stay_apart_and_fit_the_column():
    long = [key(step_key="x" * 400 + end) for end in "ab"]
    assert len(set(long)) == 2
    assert all(len(one) <= LONGEST for one in long)


@pytest.mark.parametrize(
    "change", [{"step_key": ""}, {"tool": ""}, {"step_key": "a\nb"}, {"step_key": "a\x00b"}]
)
def test_what_names_nothing_is_refused(change):
    with pytest.raises(ValueError, match="empty or holds control"):
        key(**change)
