"""Suggests a lease from what the nodes measured of their renewals and pauses."""

import dataclasses
import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from runs.lease_advice import Advice, Rules, advise
from runs.selectors.lease_measures import Measured, measured

#: Fewer renewals than this say little about their slowest hundredth.
FEW = 1000


class Command(BaseCommand):
    """``manage.py lease_advice [--hours 24] [--json]``."""

    help = "Suggest a lease from the pauses and renewals that nodes measured in the last hours."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--hours", type=int, default=24, help="how far to look back (default 24)")
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    def handle(self, *args: Any, hours: int, **options: Any) -> None:
        found = measured(hours=hours)
        engine = settings.COUNTERSIGN
        rules = Rules(
            lease=engine.lease_seconds,
            renew=engine.renew_seconds,
            failures=engine.renew_failures,
            clock_error=engine.clock_error_seconds,
            longest_commit=engine.longest_commit_seconds,
        )
        advice = advise(found, rules)
        if options["json"]:
            told = {
                "measured": dataclasses.asdict(found),
                "settings": dataclasses.asdict(rules),
                "advice": dataclasses.asdict(advice),
            }
            self.stdout.write(json.dumps(told))
            return
        self.stdout.write("\n".join([*_measured(found), *_advice(found, rules, advice)]))


def _measured(found: Measured) -> list[str]:
    if not found.looks:
        return [
            f"Nothing was measured in the last {found.hours} h: no node ran. What follows rests on the settings alone.",
            "",
        ]
    pause, renewal, median, step = map(_seconds, (found.pause, found.renewal, found.step_median, found.step))
    lines = [
        f"Measured in the last {found.hours} h:",
        f"  pause (how late the keeper of leases came)  p99 {pause}, of {found.looks} looks",
        f"  renewal (until the database answered)       p99 {renewal}, of {found.renewals}; {found.failed} failed",
        f"  a tool call                                 p50 {median}, p99 {step}, of {found.steps}",
    ]
    if found.renewals < FEW:
        lines.append(f"  Fewer than {FEW} renewals say little: ask again after a day of usual work.")
    return [*lines, ""]


def _advice(found: Measured, rules: Rules, advice: Advice) -> list[str]:
    enough = rules.lease >= advice.lease
    word = "That is enough." if enough else "That is too short for what was measured."
    if found.renewals < FEW:
        word += " Take this as a start: too little was measured to rely on it."
    k, single = rules.failures, advice.single_failure
    lines = [
        f"Suggested: COUNTERSIGN_LEASE_SECONDS={advice.lease:g}. It is {rules.lease:g} now. {word}",
        f"  {k} renewals of {rules.renew:g} s, each as slow as the slowest hundredth + such a pause",
        f"  + clock error {rules.clock_error:g} s + longest commit {rules.longest_commit:g} s, and a quarter more.",
        f"A healthy step is stopped by mistake with a probability of {advice.false_stop:.1e} at each lease",
        f"  ({k} failed renewals in a row, each {single:.1e}; more often if they fail together).",
        f"When a lease was lost, two may work on one step for {advice.window:.1f} s at most; its result counts one time.",
        f"The probability of that is at most {advice.duplicate:.1e} for a step of {_seconds(found.step)}.",
    ]
    if advice.without_renewal is not None:
        lines.append(
            "An executor that cannot renew by itself (a remote job) needs a lease of "
            f"{_seconds(advice.without_renewal)}: twice the p99 of a step."
        )
    return lines


def _seconds(value: float | None) -> str:
    if value is None:
        return "(none)"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"
