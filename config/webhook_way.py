"""How webhooks leave the house: through the one egress function of the workbench, set into the post room below it."""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from outbox.webhooks.way import Answer, Headers, NotTaken
from tools import egress, web

#: Seconds for one POST, from the name to the end of the answer. Shorter than a delivery is hidden from other couriers.
SECONDS: Final = 15.0
#: Most bytes of an answer that are read.
CAP: Final = 4_096


class Out:
    """Public addresses over https alone, but for the hosts of ``COUNTERSIGN_WEBHOOK_HOSTS``."""

    def objection(self, url: str) -> str:
        """See :class:`outbox.webhooks.way.Way`."""
        try:
            parts, host, _port = web.address(url)
        except web.NotSent:
            return _("it is no address of a web server, or it holds a password.")
        if parts.fragment:
            return _("it has a part after #.")
        if _named(url):
            return ""
        if parts.scheme != "https":
            return _("it must begin with https://.")
        if parts.port not in (None, 443):
            return _("its port must be 443.")
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return ""
        return _("it leads into a network of ours.") if egress.forbidden(host) else ""

    def post(self, url: str, headers: Headers, body: bytes) -> Answer:
        """See :class:`outbox.webhooks.way.Way`. The address is judged again, with what its name stands for now."""
        if self.objection(url):
            raise NotTaken("The address is not allowed. Nothing was sent.")
        request = web.Request("POST", url, tuple(headers), body)
        deadline = egress.Deadline.after(SECONDS)
        try:
            reply = web.exchange(request, allow_hosts=_named(url), deadline=deadline, cap=CAP)
        except (web.NotSent, web.NoAnswer) as failed:
            raise NotTaken(failed.text) from failed
        text = reply.body.decode("utf-8", "replace")
        return Answer(reply.status, text, _seconds(reply.headers.get("retry-after", "")))


def _named(url: str) -> list[str]:
    """The host of the address if the operator named it, else none: then only what is public is connected to."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    both = (host, f"{host}:{parts.port or web.PORTS.get(parts.scheme, 0)}")
    return [one for one in settings.COUNTERSIGN.webhook_host_list if one in both]


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() and len(text) < 9 else 0.0
