"""Every link between our own pages leads somewhere."""

from __future__ import annotations

import re

from tests.house.tree import files, name


def test_links_of_the_documentation_lead_to_files() -> None:
    broken = [
        f"{name(page)}: {target}"
        for page in files(".md")
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target and not target.startswith("mailto:")
        if not (page.parent / target).exists()
    ]
    assert broken == []
