"""Every part on one page, with invented content: for whoever builds the next page.

Shown at ``/parts/`` to signed-in people. The content is fixed, so two screenshots can be compared.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import member

NOON = datetime(2026, 11, 30, 13, 2, 41, tzinfo=UTC)


@require_safe
@member()
def parts(request: HttpRequest) -> HttpResponse:
    """The page of parts."""
    return render(request, "styleguide.html", sample())


def _before(minutes: float) -> datetime:
    return NOON - timedelta(minutes=minutes)


def sample() -> dict[str, Any]:
    """Content for ``templates/styleguide.html``."""
    return {**_states(), **_letter(), **_stakes(), **_life(), **_plan(), **_frame()}


def _states() -> dict[str, Any]:
    return {
        "now": NOON,
        "states": [
            ("run", "RUNNING", ""),
            ("run", "WAITING_APPROVAL", "approve"),
            ("run", "WAITING_APPROVAL", "take_over"),
            ("run", "SUCCEEDED", ""),
            ("run", "FAILED", ""),
            ("step", "UNKNOWN", ""),
            ("run", "PAUSED", ""),
            ("run", "CANCEL_REQUESTED", ""),
            ("run", "COMPENSATING", ""),
            ("run", "CANCELLED", ""),
            ("step", "PENDING", None),
        ],
    }


def _letter() -> dict[str, Any]:
    return {
        "rows": _timeline(),
        "mail": _mail(),
        "parameters": [
            {"name": "to", "value": "legal@halden-freight.example", "mono": True},
            {
                "name": "cc",
                "value": "ada.lindqvist@lind\u0435n.example",
                "mono": True,
                "note": "one letter is not Latin",
            },
            {"name": "subject", "value": "Notice of non-renewal, Agreement WSA\u20112024\u2011017"},
            {"name": "body", "value": _mail()["body"] * 4, "long": True},
        ],
        "diff_rows": [
            {"name": "to", "then": "office@brightwater.example", "now": "legal@halden-freight.example"},
            {"name": "copy", "then": "", "now": "ada.lindqvist@linden.example"},
        ],
        "quote": {
            "before": "Notices are valid if sent by e-mail to ",
            "mark": "legal@halden-freight.example",
            "after": ".",
            "document": "Halden-WSA-2024-017.pdf",
            "page": 16,
            "place": "clause 19.1",
            "url": "#",
        },
    }


def _stakes() -> dict[str, Any]:
    return {
        "stakes": [
            {"label": "Who wants it", "value": "Contract reviewer", "note": "for Ada Lindqvist"},
            {"label": "At stake", "value": "EUR 148,200 a year", "note": "175,617 if renewed"},
            {
                "label": "Last day for notice",
                "value": "Tomorrow, 1 December",
                "note": "90 days before 1 March",
            },
            {"label": "Who must agree", "value": "You alone", "note": "1 of the Legal approvers"},
        ],
        "checks": [
            {"verdict": "no", "text": "Nothing undoes a sent e-mail"},
            {"verdict": "ok", "text": "Sent at most once, even after a crash"},
            {"verdict": "warn", "text": "The mail server cannot be asked afterwards"},
        ],
        "meters": [
            {
                "label": "Cost",
                "used": "EUR 1.84",
                "limit": "5.00",
                "width": "36.8%",
                "held_x": "36.8%",
                "held": "8%",
            },
            {"label": "Steps", "used": "7", "limit": "10", "width": "70%", "tone": "running"},
        ],
    }


def _life() -> dict[str, Any]:
    return {
        "facts": [
            {"label": "Run", "value": "run_01KB9VX2M8", "mono": True},
            {"label": "Begun", "value": "", "at": _before(144)},
            {"label": "Report", "value": "Findings.csv", "url": "#", "note": "18 KB"},
        ],
        "life": [
            {"title": "Proposed", "at": _before(142), "note": "Contract reviewer"},
            {"title": "Approved", "at": _before(3), "note": "Ben Okafor"},
            {"title": "Sent", "at": _before(2), "note": "once, first attempt"},
            {"title": "Confirmed", "at": _before(1), "note": "answer 250", "here": True},
        ],
        "signs": [
            {
                "order": "First",
                "who": "Mira Sandoval",
                "stamp": {"name": "Mira Sandoval", "at": _before(30), "digest": "9f3c71ab"},
            },
            {
                "order": "Second",
                "who": "You, if you approve",
                "note": "You decide on the same digest.",
                "mine": True,
            },
        ],
    }


def _plan() -> dict[str, Any]:
    return {
        "plan": [
            {"title": "Read 5 files", "path": "auto", "effect": "read_only", "why": "by itself, read-only"},
            {
                "title": "Enter deadlines",
                "path": "auto",
                "effect": "compensable",
                "why": "by itself, can be undone",
            },
            {
                "title": "Send the notice",
                "path": "approval",
                "effect": "irreversible",
                "why": "it goes outside Linden. One of the approvers; not you, because you submit.",
            },
            {
                "title": "Cancel standing orders",
                "path": "blocked",
                "effect": "irreversible",
                "why": "agents may never move money here.",
            },
        ],
        "people": [
            {"name": "Ada Lindqvist", "note": "submitted"},
            {"name": "Ben Okafor", "note": "claimed the approval, until 14:20"},
        ],
        "events": [
            {
                "sequence": 63,
                "at": _before(1),
                "text": "Step begun: extract clauses",
                "who": "worker-5",
                "mono": True,
                "hash": "71d09ac4",
            },
            {
                "sequence": 61,
                "at": _before(2),
                "text": "E-mail sent, confirmed",
                "who": "Mira Sandoval",
                "hash": "c3b81f20",
            },
        ],
    }


def _frame() -> dict[str, Any]:
    return {
        "files": [
            {
                "id": "f1",
                "name": "Halden-WSA-2024-017.pdf",
                "size": 1_200_000,
                "note": "22 pages, text found",
                "verdict": "done",
            },
            {
                "id": "f2",
                "name": "Kestrel-frame-contract.pdf",
                "size": 18_400_000,
                "note": "pages 14–31 hold no text",
                "verdict": "waiting",
            },
            {
                "id": "f3",
                "name": "Marlow.pdf",
                "size": 84_000,
                "note": "This is a ZIP archive named .pdf. It was not kept.",
                "verdict": "failed",
            },
        ],
        "tabs": [
            {"label": "Timeline", "url": "#", "current": True},
            {"label": "Steps", "url": "#", "count": 12},
            {"label": "Results", "url": "#", "count": 3},
        ],
        "chips": [
            {"label": "All", "url": "#", "count": 212, "current": True},
            {"label": "Needs a person", "url": "#", "count": 3, "tone": "waiting", "mark": "person"},
            {"label": "Unknown", "url": "#", "count": 1, "tone": "unknown", "mark": "unknown"},
        ],
        "empty_actions": [{"label": "Review 2 contracts", "url": "#"}],
    }


def _mail() -> dict[str, Any]:
    return {
        "sender": "contracts@linden.example",
        "to": ["legal@halden-freight.example"],
        "cc": ["ada.lindqvist@linden.example"],
        "subject": "Notice of non-renewal, Warehouse Services Agreement WSA-2024-017",
        "body": "Dear Sir or Madam,\n\nIn accordance with clause 14.2 we hereby give notice that we do not wish to renew "
        "the Agreement. It will therefore end on 28 February 2027.\n\nYours faithfully,\nAda Lindqvist\n",
        "attachments": [
            {
                "name": "Notice-WSA-2024-017.pdf",
                "size": 84_000,
                "url": "#",
                "note": "1 page",
                "sha256": "5be104c7aa31d2a9",
            }
        ],
        "lang": "en",
    }


def _timeline() -> list[dict[str, Any]]:
    def span(kind: str, start: float, end: float | None, label: str = "") -> dict[str, Any]:
        return {
            "kind": kind,
            "start": _before(start),
            "end": None if end is None else _before(end),
            "label": label,
        }

    def row(
        name: str, status: str, took: int | None, *spans: dict[str, Any], note: str = "", on: bool = False
    ) -> dict[str, Any]:
        return {
            "name": name,
            "url": "#",
            "status": status,
            "took": took,
            "spans": list(spans),
            "note": note,
            "on": on,
        }

    return [
        row("Read 5 files", "SUCCEEDED", 12, span("done", 144.0, 143.8)),
        row("Clauses, Halden Freight", "SUCCEEDED", 78, span("done", 143.8, 142.5)),
        row(
            "Clauses, Brightwater Foods",
            "SUCCEEDED",
            84,
            span("failed", 143.8, 143.1),
            span("done", 142.9, 141.5),
            note="model timed out once",
        ),
        row(
            "Clauses, Kestrel Components",
            "SUCCEEDED",
            94,
            span("failed", 143.8, 142.3),
            span("done", 142.2, 140.6),
            span("late", 142.3, 140.8),
            note="worker lost",
        ),
        row(
            "Send notice, Halden Freight",
            "WAITING_APPROVAL",
            8520,
            span("wait", 141.8, None, "Legal approvers, claimed by Ben Okafor"),
            on=True,
        ),
        row("Clauses, Tessera Print", "SUCCEEDED", 106, span("done", 5.0, 3.2)),
        row("Clauses, Marlow Cold Store", "RUNNING", 101, span("running", 1.7, None)),
        row("Write the summary", "PENDING", None),
    ]
