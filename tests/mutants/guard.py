"""Guards of the security checklist around a decision: who is there, with what proof, and what a token may."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

STEP = "tests/approvals/test_step_up.py::"
DOOR = "tests/accounts/test_door.py::"
RATES = "tests/accounts/test_rates.py::"

GUARD = (
    Mutant(
        number="C05",
        guard="the page and the service read rights at the moment of the act",
        file="accounts/rights.py",
        old='_LIVE = {"disabled_at__isnull": True, "user__is_active": True, "tenant__active": True}\n',
        new='_LIVE = {"user__is_active": True, "tenant__active": True}\n',
        tests=("tests/approvals/test_matrix.py::test_c05_a_cell_is_refused_and_nothing_has_changed",),
    ),
    Mutant(
        number="C06",
        guard="the grant for high risk is given after a proof",
        file="accounts/views/tokens.py",
        old='        if TokenScope.DECIDE_HIGH_RISK in typed["scopes"] and not proof.fresh(request):\n',
        new="        if False:\n",
        tests=(STEP + "test_c06_the_express_grant_is_given_after_a_proof_to_approvers_with_an_end",),
    ),
    Mutant(
        number="C07",
        guard="a proof gives the session a new key",
        file="accounts/proof.py",
        old="            request.session.cycle_key()\n",
        new="            pass\n",
        tests=(STEP + "test_c07_a_proof_gives_the_session_a_new_key",),
    ),
    Mutant(
        number="C10",
        guard="every answer carries the policy",
        file="config/settings.py",
        old='    "csp.middleware.CSPMiddleware",\n',
        new="",
        tests=("tests/house/test_routes.py::test_c10_every_answer_carries_the_policy",),
    ),
    Mutant(
        number="C11",
        guard="high risk needs a recent proof",
        file="approvals/decide.py",
        old="    if step_up.needed(action, given.verdict) and not door.fresh:\n",
        new="    if False:\n",
        tests=(STEP + "test_c11_an_old_sign_in_approves_no_high_risk_until_it_is_proved_anew",),
    ),
    Mutant(
        number="C11",
        guard="a token needs the express grant",
        file="approvals/api/views.py",
        old="            fresh=TokenScope.DECIDE_HIGH_RISK in token_of(request).scopes,\n",
        new="            fresh=True,\n",
        tests=(STEP + "test_c11_a_token_needs_the_express_grant",),
    ),
    Mutant(
        number="C11",
        guard="a proof from the future is none",
        file="accounts/proof.py",
        old="    return 0 <= age <= settings.COUNTERSIGN.step_up_seconds\n",
        new="    return age <= settings.COUNTERSIGN.step_up_seconds\n",
        tests=(STEP + "test_c11_a_proof_from_the_future_is_none",),
    ),
    Mutant(
        number="C11",
        guard="a code counts once in whichever process",
        file="accounts/codes.py",
        old="        if digest in spent:\n",
        new="        if False:\n",
        tests=(DOOR + "test_c11_a_code_counts_once_whatever_the_cache_says",),
    ),
    Mutant(
        number="C11",
        guard="of equal codes at once one counts",
        file="accounts/codes.py",
        old="        row = Authenticator.objects.select_for_update().get(pk=authenticator.pk)\n",
        new="        row = Authenticator.objects.get(pk=authenticator.pk)\n",
        tests=(DOOR + "test_c11_of_equal_codes_at_once_one_counts",),
    ),
    Mutant(
        number="B71",
        guard="a socket asks again whether its visitor may stay",
        file="accounts/socket_access.py",
        old="    if now != visitor:\n",
        new="    if now is None:\n",
        tests=("tests/accounts/test_sockets.py::test_b71_a_socket_does_not_outlive_the_right_to_it",),
    ),
    Mutant(
        number="B73",
        guard="a header that nobody of ours wrote is not believed",
        file="accounts/addresses.py",
        old="    if proxies > 0:\n",
        new="    if proxies >= 0:\n",
        tests=("tests/accounts/test_limits.py::test_only_what_our_own_proxies_appended_is_believed",),
    ),
    Mutant(
        number="B73",
        guard="a window that is full counts nobody",
        file="accounts/sql/rate_window.sql",
        old=" WHERE seen.count < %(limit)s",
        new="",
        tests=("tests/accounts/test_limits.py::test_b73_parallel_tries_never_pass_the_limit",),
    ),
    Mutant(
        number="B73",
        guard="a try is taken before the password is looked at",
        file="accounts/door.py",
        old='        keys = take_tries(request, str(credentials.get("email", "")))\n',
        new="        keys: list[str] = []\n",
        tests=(RATES + "test_b73_two_hundred_sign_ins_at_once_see_no_more_passwords_than_the_limit",),
    ),
    Mutant(
        number="C30",
        guard="REST asks the limiter",
        file="accounts/rest/rates.py",
        old="            return rate.allow(rate.keys(client_address(request.META), request.user.pk))\n",
        new="            return True\n",
        tests=(RATES + "test_c30_parallel_requests_never_pass_the_limit",),
    ),
    Mutant(
        number="C30",
        guard="another token of a person buys nothing",
        file="accounts/throttle.py",
        old="        if self.per_person and person is not None:\n",
        new="        if False:\n",
        tests=(RATES + "test_c30_page_and_rest_count_one_person_together",),
    ),
    Mutant(
        number="C30",
        guard="files over REST are counted",
        file="runs/api/files.py",
        old="    throttle_classes = (limited(UPLOAD),)\n",
        new="",
        tests=(RATES + "test_c30_page_and_rest_count_one_person_together",),
    ),
)
