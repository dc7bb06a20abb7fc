"""What the library's services call ``requests``: one POST at a time through the way out, and nothing else."""

import threading
import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

import requests

from outbox.webhooks.way import NotTaken, out

#: Seconds for everything that one message does.
SECONDS: Final = 20.0
#: Calls of one message: none of the services needs more.
CALLS: Final = 5
_OURS: Final = ("host", "content-length", "connection", "accept-encoding", "transfer-encoding")


@dataclass(slots=True)
class Trail:
    """What was heard in this thread, for the words of a failure. ``said`` names hosts, never addresses."""

    until: float = field(default_factory=lambda: time.monotonic() + SECONDS)
    calls: int = 0
    said: str = ""


_here = threading.local()


def begin() -> Trail:
    """A new message in this thread."""
    _here.trail = Trail()
    trail: Trail = _here.trail
    return trail


class Line:
    """Stands in for the module ``requests``."""

    codes = requests.codes
    RequestException = requests.RequestException

    def post(self, url: str, **given: Any) -> SimpleNamespace:
        """One POST. Raises ``RequestException`` when there is no answer."""
        return self.request("POST", url, **given)

    def get(self, url: str, **given: Any) -> NoReturn:
        """Nothing is read from a far side."""
        raise self._refused("It wanted to read from there. Only messages are sent.")

    def request(self, method: str, url: str, **given: Any) -> SimpleNamespace:
        """As :meth:`post`; other methods are refused."""
        if method.upper() != "POST":
            self.get(url)
        trail: Trail = _here.trail
        trail.calls += 1
        if trail.calls > CALLS or time.monotonic() > trail.until:
            raise self._refused("It took too long.")
        wanted = {
            name: given[name] for name in ("data", "json", "params", "headers", "auth") if given.get(name)
        }
        prepared = requests.Request("POST", url, **wanted).prepare()
        body = prepared.body if isinstance(prepared.body, bytes) else str(prepared.body or "").encode()
        host = urlsplit(prepared.url or "").hostname or ""
        headers = [
            (name, value if isinstance(value, str) else value.decode("latin-1"))
            for name, value in prepared.headers.items()
            if name.lower() not in _OURS
        ]
        try:
            answer = out().post(prepared.url or "", headers, body)
        except NotTaken as failed:
            text = str(failed)
            # A text with a whole address in it may hold a secret.
            raise self._refused(text if "://" not in text else f"{host} did not take it.") from failed
        trail.said = "" if 200 <= answer.status < 300 else f"{host} answered {answer.status}."
        waits = {"retry-after": str(int(answer.retry_after))} if answer.retry_after else {}
        return SimpleNamespace(
            status_code=answer.status, content=answer.text.encode(), text=answer.text, headers=waits
        )

    def _refused(self, text: str) -> requests.RequestException:
        _here.trail.said = text
        return requests.RequestException(text)
