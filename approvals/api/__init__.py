"""The desk's REST door: what waits for a person, one action, and deciding. Every rule is in ``approvals.decide``."""
