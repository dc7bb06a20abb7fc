"""Guards of adapters and egress: what is known after a send, and where no connection goes."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_EGRESS, _WEB, _HTTP = "tools/egress.py", "tools/web.py", "tools/adapters/http.py"
_GATE, _CALLS = "tests/tools/test_egress.py", "tests/adapters/test_http.py"
_SUITE = "tests/adapters/test_conformance.py::test_b67_an_adapter_says_exactly_what_is_known"

ADAPTERS = (
    Mutant(
        number="B67",
        guard="a request that left without an answer is unknown",
        file=_HTTP,
        old="    except web.NoAnswer as error:\n        raise Unknown(",
        new="    except web.NoAnswer as error:\n        raise Failed(",
        tests=(f"{_SUITE}[http-reset_after_send-unknown]",),
    ),
    Mutant(
        number="B67",
        guard="a fault of the far side leaves it open",
        file=_HTTP,
        old="    if 400 <= reply.status <= 499 and",
        new="    if 400 <= reply.status <= 599 and",
        tests=(f"{_SUITE}[http-fault_5xx-unknown]",),
    ),
    Mutant(
        number="B67",
        guard="an effect is not sent on to another address",
        file=_HTTP,
        old="        reply = web.exchange(\n",
        new="        reply = (lambda asked, last_look, **rules: web.follow(asked, **rules))(\n",
        tests=(f"{_CALLS}::test_b67_a_status_that_leaves_it_open_is_unknown[away]",),
    ),
    Mutant(
        number="B67",
        guard="an answer that cannot be kept is still the answer",
        file=_HTTP,
        old="            if prepared.reads:\n                raise\n",
        new="            raise\n",
        tests=(f"{_CALLS}::test_b67_an_answer_that_cannot_be_kept_is_no_second_call",),
    ),
    Mutant(
        number="B67",
        guard="a letter whose dot has left is unknown",
        file="tools/adapters/smtp.py",
        old='            raise Unknown("no_answer", text) from error\n',
        new='            raise Failed("no_answer", text) from error\n',
        tests=(f"{_SUITE}[smtp-reset_after_send-unknown]",),
    ),
    Mutant(
        number="B76",
        guard="the checked address is connected to, not the name",
        file=_EGRESS,
        old="            sock.connect(address)\n",
        new="            sock.connect((name, port))\n",
        tests=(f"{_GATE}::test_b76_the_name_is_resolved_once_and_the_checked_address_is_connected_to",),
    ),
    Mutant(
        number="B76",
        guard="the driver of a database gets the checked address",
        file="tools/adapters/sql_session.py",
        old='            hostaddr=",".join(self.addresses),\n',
        new="",
        tests=(
            "tests/adapters/test_sql.py::test_b76_the_driver_connects_to_the_checked_address_and_never_to_the_name",
        ),
    ),
    Mutant(
        number="B76",
        guard="the resolved address is judged, however it is written",
        file=_EGRESS,
        old="        if not named and (why :=",
        new="        if not named and name == address[0] and (why :=",
        tests=(f"{_GATE}::test_b76_no_spelling_of_a_private_address_is_connected_to",),
    ),
    Mutant(
        number="B76",
        guard="IPv4 inside IPv6 counts",
        file=_EGRESS,
        old="    for one in (ip, *inside):\n",
        new="    for one in (ip,):\n",
        tests=(f"{_GATE}::test_b76_addresses_that_are_never_connected_to",),
    ),
    Mutant(
        number="B76",
        guard="of IPv6 only what is public is public",
        file=_EGRESS,
        old="    if ip.version == 6 and ip not in _PUBLIC_V6",
        new="    if ip.version == 5 and ip not in _PUBLIC_V6",
        tests=(f"{_GATE}::test_b76_addresses_that_are_never_connected_to",),
    ),
    Mutant(
        number="B76",
        guard="the landlord's own addresses are refused",
        file=_EGRESS,
        old="        if any(one in net for net in _LANDLORDS if net.version == one.version):\n",
        new="        if False:\n",
        tests=(f"{_GATE}::test_b76_addresses_that_are_never_connected_to",),
    ),
    Mutant(
        number="B76",
        guard="every redirect is checked like the first address",
        file=_WEB,
        old="        reply = exchange(request, allow_hosts=allow_hosts,",
        new="        reply = exchange(request, allow_hosts=[address(request.url)[1]],",
        tests=(
            f"{_CALLS}::test_b76_a_redirect_is_checked_like_the_first_address",
            f"{_CALLS}::test_b76_a_redirect_to_where_nothing_may_go_is_not_followed",
        ),
    ),
    Mutant(
        number="B76",
        guard="an address with a name before the host is none",
        file=_WEB,
        old='    odd = "@" in parts.netloc or ',
        new="    odd = ",
        tests=(f"{_CALLS}::test_b76_what_is_no_http_address_is_not_called",),
    ),
    Mutant(
        number="B76",
        guard="a key of any name stays with its origin",
        file=_WEB,
        old="if pair[0].lower() in _HARMLESS)",
        new='if pair[0].lower() != "authorization")',
        tests=(f"{_CALLS}::test_b76_what_proves_who_we_are_stays_with_its_origin",),
    ),
)
