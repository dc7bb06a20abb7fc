"""What every REST door has in common: strict JSON in, problems out (RFC 9457), keys that make a POST repeatable, pages.

Doors themselves live in their rooms (``runs.api``, ``approvals.api``); they are thin and call the same verbs as the pages.
"""
