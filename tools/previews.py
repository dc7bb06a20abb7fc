"""What a person sees before an effect: what the receiver would get, made by the same code that makes what
is sent."""

from collections.abc import Mapping
from typing import Any

from accounts.models import Tenant
from tools import sentences
from tools.adapters import registry
from tools.adapters.kind import Shown
from tools.models import Contract


def tenant_facts(tenant: Tenant) -> dict[str, str]:
    """What of a tenant goes out with a call in its name, and ``slug``, by which the deployment knows it."""
    return {
        "slug": tenant.slug,
        "name": tenant.name,
        "mail_from": tenant.mail_from,
        "mail_reply_to": tenant.mail_reply_to,
    }


def target_for(*, contract: Contract, arguments: Mapping[str, Any], proposed: str = "") -> str:
    """Whom or what the effect reaches. For a mail that is its address, for a request the URL, whatever the agent says beside
    it: a person must not approve one receiver while another one gets it."""
    kind = registry.kind(contract.adapter)
    return kind.receiver(contract.target, contract.config, arguments, proposed)


def render(*, contract: Contract, arguments: Mapping[str, Any], tenant: Tenant) -> dict[str, Any]:
    """What the receiver would see, as plain values; ``sentence`` says in one line what would happen.

    ``kind`` "request", tool, target, arguments, and what the adapter adds: over HTTP ``http`` with method, url, headers and
    body. A mail has a form of its own (``tools.adapters.smtp.shown``). The name of a secret stands for its value. Never
    raises: arguments that make no letter or no request are shown as they are (the gate has blocked them before).
    """
    kind = registry.kind(contract.adapter)
    shown = kind.shown(contract.target, contract.config, arguments, tenant_facts(tenant)) or Shown({})
    sentence = (shown.sentence % dict(shown.params))[:500] if shown.sentence else ""
    if "kind" in shown.part:
        return {"sentence": sentence, **shown.part}
    return {
        "kind": "request",
        "sentence": sentence or sentences.CALL(tool=contract.tool.title or contract.tool.name),
        "tool": contract.tool.name,
        "target": target_for(contract=contract, arguments=arguments),
        "arguments": dict(arguments),
        **shown.part,
    }
