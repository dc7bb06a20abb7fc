"""What a person sees before an effect: what the receiver would get, made by the same code that makes what
is sent."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import Tenant
from tools import mail
from tools.adapters import http
from tools.adapters.base import Failed
from tools.models import Contract


def tenant_facts(tenant: Tenant) -> dict[str, str]:
    """What of a tenant goes out with a call in its name."""
    return {"name": tenant.name, "mail_from": tenant.mail_from, "mail_reply_to": tenant.mail_reply_to}


def target_for(*, contract: Contract, arguments: Mapping[str, Any], proposed: str = "") -> str:
    """Whom or what the effect reaches. For a mail that is its address, for a request the URL, whatever the agent says beside
    it: a person must not approve one receiver while another one gets it."""
    if contract.adapter == "smtp":
        return str(arguments.get("to") or "")
    if contract.adapter == "http":
        try:
            return http.request(contract.target, contract.config, arguments, secrets=http.HIDDEN).url
        except Failed:
            return contract.target
    return proposed or contract.target


def render(*, contract: Contract, arguments: Mapping[str, Any], tenant: Tenant) -> dict[str, Any]:
    """What the receiver would see, as plain values; ``sentence`` says in one line what would happen.

    A mail: ``kind`` "mail", from, reply_to, to, subject, text, attachments (name, size, sha256,
    media_type). Anything else: ``kind`` "request", tool, target, arguments; over HTTP also ``http`` with method, url,
    headers and body, where the name of a secret stands for its value. Never raises: arguments that make no letter or no
    request are shown as they are (the gate has blocked them before).
    """
    if contract.adapter == "smtp":
        try:
            return _mail(mail.letter(arguments, tenant_facts(tenant)))
        except mail.BadLetter:
            pass
    call = {
        "kind": "request",
        "sentence": _("Call %(tool)s") % {"tool": contract.tool.title or contract.tool.name},
        "tool": contract.tool.name,
        "target": target_for(contract=contract, arguments=arguments),
        "arguments": dict(arguments),
    }
    if contract.adapter == "http":
        try:
            return {**call, "http": _http(contract, arguments)}
        except Failed:
            pass
    return call


def _http(contract: Contract, arguments: Mapping[str, Any]) -> dict[str, Any]:
    made = http.request(contract.target, contract.config, arguments, secrets=http.HIDDEN)
    return {
        "method": made.method,
        "url": made.url,
        "headers": [list(pair) for pair in made.headers],
        "body": (made.body or b"").decode("utf-8"),
    }


def _mail(letter: mail.Letter) -> dict[str, Any]:
    words = {"to": letter.to, "subject": letter.subject}
    sender = f"{letter.sender_name} <{letter.sender}>" if letter.sender_name else letter.sender
    return {
        "kind": "mail",
        "sentence": (_("Send “%(subject)s” to %(to)s") % words)[:500],
        "target": letter.to,
        "from": sender,
        "reply_to": letter.reply_to,
        "to": letter.to,
        "subject": letter.subject,
        "text": letter.text,
        "attachments": [
            {"name": part.name, "size": part.size, "sha256": part.sha256, "media_type": part.media_type}
            for part in letter.attachments
        ],
    }
