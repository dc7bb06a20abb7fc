"""Plain builders, one file a room. ``from tests.make import approvals as make``."""
