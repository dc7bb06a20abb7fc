"""Settings of the relays of this test: the product's own, with one topic more whose letters have a key."""

from __future__ import annotations

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS as OWN

INSTALLED_APPS = [*OWN, "tests.outbox.wire.apps.WireConfig"]
