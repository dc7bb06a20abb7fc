"""When something has to be done: the end of a term, and the last day to stop its renewal.

A date is given only where the contract states everything it is computed from; each says in words how it was
computed. A term that renews by itself is followed from period to period up to the one that runs today. Days
are calendar days; a notice counted in business days is not computed, because the calendar of the parties is
not in the contract.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from runs.agents.contract_review.dates import Period

_MOST_PERIODS = 200


@dataclass(frozen=True, slots=True)
class Deadline:
    """One date of one document. `day` is ISO text, or None with `unknown` saying what is missing.

    `kind` is `expiry` or `non_renewal_notice`. `code` with `params` is the stable form of `how`.
    """

    kind: str
    day: str | None
    how: str
    code: str
    params: dict[str, Any] = field(default_factory=dict)
    finding_ids: tuple[str, ...] = ()
    passed: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def deadlines_of(findings: list[dict[str, Any]], today: date) -> list[Deadline]:
    """The deadlines that the findings (in JSON form) of one document set, soonest first."""
    first = {name: next((f for f in findings if f["field"] == name), None) for name in _NEEDED}
    expiration = first["expiration"]
    if expiration is None:
        return []
    ends, how, code, params, ids = _first_end(expiration, first)
    if ends is None:
        return [Deadline("expiry", None, how, code, params, ids)]
    ends, how, code, params, ids = _follow_renewals(ends, how, code, params, ids, first["renewal"], today)
    found = [Deadline("expiry", ends.isoformat(), how, code, params, ids, passed=ends < today)]
    notice = _notice(ends, first["renewal_notice"], first["renewal"], ids, today)
    return [notice, *found] if notice else found


def most_urgent_deadline(deadlines: list[dict[str, Any]], today: date) -> dict[str, Any] | None:
    """The soonest deadline (in JSON form) that has not passed; the last day to give notice before an end."""
    ahead = [d for d in deadlines if d["day"] is not None and date.fromisoformat(d["day"]) >= today]
    return min(ahead, key=lambda d: (d["day"], d["kind"] != "non_renewal_notice"), default=None)


_NEEDED = ("expiration", "renewal", "renewal_notice", "effective_date", "agreement_date")
_Found = tuple[date | None, str, str, dict[str, Any], tuple[str, ...]]


def _first_end(expiration: dict[str, Any], first: dict[str, dict[str, Any] | None]) -> _Found:
    value = expiration["value"]
    ids = (expiration["id"],)
    if "date" in value:
        day = date.fromisoformat(value["date"])
        return (
            day,
            f"The contract names {day.isoformat()} as its end.",
            "named",
            {"end": day.isoformat()},
            ids,
        )
    if value.get("perpetual"):
        return None, "The contract has no end.", "perpetual", {}, ids
    if "period" not in value:
        return None, "Unknown: the end depends on an event or is blank.", "no_length", {}, ids
    period = _period(value["period"])
    start = first.get(value.get("starts", ""))
    if start is None or not start["value"].get("date"):
        return (
            None,
            f"Unknown: the term lasts {period}, but the day it starts is not stated or is blank.",
            "no_start",
            {"period": str(period)},
            ids,
        )
    begins = date.fromisoformat(start["value"]["date"])
    end = period.after(begins)
    params = {"start": begins.isoformat(), "period": str(period), "end": end.isoformat()}
    how = f"{begins.isoformat()} (start of the term) plus {period} is {end.isoformat()}."
    return end, how, "start_plus_period", params, (*ids, start["id"])


def _follow_renewals(
    end: date,
    how: str,
    code: str,
    params: dict[str, Any],
    ids: tuple[str, ...],
    renewal: dict[str, Any] | None,
    today: date,
) -> tuple[date, str, str, dict[str, Any], tuple[str, ...]]:
    """Move the end on by whole renewal periods, if it renews by itself and has passed."""
    value = renewal["value"] if renewal else {}
    if renewal is None or end >= today or not value.get("automatic") or "period" not in value:
        return end, how, code, params, ids
    most = {"once": 1, "repeatedly": _MOST_PERIODS}.get(str(value.get("times")), 0)
    period = _period(value["period"])
    original, count = end, 0
    while end < today and count < most:
        count += 1
        end = Period(period.count * count, period.unit).after(original)
    if not count:
        return end, how, code, params, ids
    params = {
        **params,
        "first_end": original.isoformat(),
        "renewals": count,
        "renewal_period": str(period),
        "end": end.isoformat(),
    }
    times = f"once by {period}" if count == 1 else f"{count} times by {period} each"
    how = (
        f"{how} Renewed {times}, the running term ends on {end.isoformat()}, if the conditions "
        "of each renewal were met."
    )
    return end, how, f"{code}_renewed", params, tuple(dict.fromkeys((*ids, renewal["id"])))


def _notice(
    end: date,
    notice: dict[str, Any] | None,
    renewal: dict[str, Any] | None,
    ids: tuple[str, ...],
    today: date,
) -> Deadline | None:
    if notice is None:
        return None
    ids = tuple(dict.fromkeys((*ids, notice["id"])))
    value = notice["value"].get("period")
    if not value:
        return Deadline(
            "non_renewal_notice",
            None,
            "Unknown: the length of the notice is blank.",
            "no_notice_length",
            {},
            ids,
        )
    period = _period(value)
    if period.business:
        how = f"Unknown: the notice is {period}, and which days count is not in the contract."
        return Deadline("non_renewal_notice", None, how, "business_days", {"period": str(period)}, ids)
    day = period.before(end)
    how = f"{end.isoformat()} (end of the term) minus {period} is {day.isoformat()}."
    params = {"end": end.isoformat(), "period": str(period), "day": day.isoformat()}
    return Deadline(
        "non_renewal_notice", day.isoformat(), how, "end_minus_notice", params, ids, passed=day < today
    )


def _period(value: dict[str, Any]) -> Period:
    return Period(int(value["count"]), str(value["unit"]), bool(value.get("business")))
