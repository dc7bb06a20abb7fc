"""Every setting is documented with its default, and every documented setting exists."""

from __future__ import annotations

import re

from config.engine_env import EngineEnv
from config.env import ProcessEnv
from tests.needs import ROOT

PAGE = ROOT / "docs" / "reference" / "settings.md"
# Read by make, the supervisor or the tests, before there are settings.
ELSEWHERE = {"SINK_PORT", "NO_COLOR", "FORCE_COLOR", "PYTHON", "REQUIRE_ALL", "CHROMIUM", "PYTEST_ARGS"}


def documented() -> dict[str, str]:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|", PAGE.read_text(), flags=re.MULTILINE)
    return {setting: default.strip("`") for setting, default in rows}


def known() -> dict[str, object]:
    process = {name.upper(): field.default for name, field in ProcessEnv.model_fields.items()}
    engine = {f"COUNTERSIGN_{name.upper()}": field.default for name, field in EngineEnv.model_fields.items()}
    return process | engine


def test_no_setting_is_undocumented_and_none_is_invented() -> None:
    assert set(known()) - set(documented()) == set()
    assert set(documented()) - set(known()) - ELSEWHERE == set()


def test_documented_defaults_are_the_real_ones() -> None:
    """A default in words ("see text") stands in brackets and is not compared."""
    page = documented()
    differ = {
        setting: (page[setting], default)
        for setting, default in known().items()
        if not page[setting].startswith("(") and page[setting].replace(" ", "") != _shown(default)
    }
    assert differ == {}


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "1" if default else "0"
    if isinstance(default, float):
        return f"{default:g}" if default < 1e5 else str(int(default))
    return str(default).replace(" ", "")
