"""The page of the sink: what arrived, how often, word for word. One small WSGI application, no accounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import Http404, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils import timezone, translation
from whitenoise import WhiteNoise

from config.sink.letter import Letter, counts, read
from config.sink.store import Delivery, Store
from config.ui.zone import ZONE_COOKIE, known_zone

StartResponse = Callable[[str, list[tuple[str, str]]], object]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class Pages:
    """`/`, `/<number>`, `/<number>/<attachment>`, `/messages.json`."""

    def __init__(self, store: Store, home: str) -> None:
        self._store = store
        self._home = home

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        request = WSGIRequest(environ)
        language = translation.get_language_from_request(request)
        with (
            translation.override(language),
            timezone.override(known_zone(request.COOKIES.get(ZONE_COOKIE, ""))),
        ):
            try:
                response = self._answer(request)
            except Http404:
                response = HttpResponse("There is nothing here.\n", status=404, content_type="text/plain")
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cache-Control"] = "no-store"
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return [response.content]

    def _answer(self, request: WSGIRequest) -> HttpResponse:
        if request.method not in {"GET", "HEAD"}:
            return HttpResponse("Mail comes in by SMTP; here it can only be read.\n", status=405)
        match request.path.strip("/").split("/"):
            case [""]:
                return self._page(request, None)
            case ["messages.json"]:
                return self._json()
            case [number] if number.isdecimal():
                return self._page(request, self._delivery(number))
            case [number, position] if number.isdecimal() and position.isdecimal():
                return self._file(self._delivery(number), int(position))
        raise Http404

    def _delivery(self, number: str) -> Delivery:
        deliveries = self._store.all()
        if not 0 < int(number) <= len(deliveries):
            raise Http404
        return deliveries[int(number) - 1]

    def _page(self, request: WSGIRequest, chosen: Delivery | None) -> HttpResponse:
        deliveries = self._store.all()
        times = counts(deliveries)
        text = request.GET.get("q", "").strip()
        shown = [delivery for delivery in reversed(deliveries) if _matches(read(delivery), text)]
        current = chosen or (shown[0] if shown else None)
        context: dict[str, Any] = {
            "home": self._home,
            "total": len(deliveries),
            "search": text,
            "rows": [_row(delivery, times[delivery.number]) for delivery in shown],
            "current": None,
        }
        if current:
            letter = read(current)
            context["current"] = _row(current, times[current.number]) | {
                "mail": _mail(current.number, letter),
                "headers": letter.headers,
                "size": len(current.raw),
                "same": [d for d in deliveries if _same(read(d), letter)],
            }
        return HttpResponse(render_to_string("sink/page.html", context, request))

    def _json(self) -> HttpResponse:
        deliveries = self._store.all()
        times = counts(deliveries)
        rows = [_facts(delivery, times[delivery.number]) for delivery in deliveries]
        return JsonResponse({"count": len(rows), "messages": rows})

    def _file(self, delivery: Delivery, position: int) -> HttpResponse:
        attachments = read(delivery).attachments
        if position >= len(attachments):
            raise Http404
        part = attachments[position]
        response = HttpResponse(part.content, content_type="application/octet-stream")
        response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(part.name, safe='')}"
        response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
        return response


def _matches(letter: Letter, text: str) -> bool:
    words = (letter.subject, letter.body, letter.sender, *letter.to, letter.message_id)
    return not text or any(text.casefold() in word.casefold() for word in words)


def _same(one: Letter, other: Letter) -> bool:
    return one.digest == other.digest or bool(one.message_id and one.message_id == other.message_id)


def _row(delivery: Delivery, times: tuple[int, int]) -> dict[str, Any]:
    return {"delivery": delivery, "letter": read(delivery), "times": max(times)}


def _mail(number: int, letter: Letter) -> dict[str, Any]:
    files = [
        {"name": part.name, "size": part.size, "sha256": part.sha256, "url": f"/{number}/{position}"}
        for position, part in enumerate(letter.attachments)
    ]
    return {
        "sender": letter.sender,
        "to": letter.to,
        "cc": letter.cc,
        "reply_to": letter.reply_to,
        "subject": letter.subject,
        "body": letter.body,
        "attachments": files,
    }


def _facts(delivery: Delivery, times: tuple[int, int]) -> dict[str, Any]:
    letter = read(delivery)
    return {
        "number": delivery.number,
        "received_at": delivery.at,
        "peer": delivery.peer,
        "envelope": {"from": delivery.sender, "to": delivery.recipients},
        "message_id": letter.message_id,
        "from": letter.sender,
        "to": list(letter.to),
        "cc": list(letter.cc),
        "reply_to": letter.reply_to,
        "subject": letter.subject,
        "text": letter.body,
        "attachments": [
            {"name": p.name, "media_type": p.media_type, "size": p.size, "sha256": p.sha256}
            for p in letter.attachments
        ],
        "headers": [list(pair) for pair in letter.headers],
        "size": len(delivery.raw),
        "digest": letter.digest,
        "times_by_id": times[0],
        "times_by_content": times[1],
    }


def application(store: Store, home: str) -> WhiteNoise:
    """The pages, with the style sheets and scripts of the product beside them."""
    return WhiteNoise(Pages(store, home), root=str(settings.BASE_DIR / "static"), prefix="static/", max_age=0)
