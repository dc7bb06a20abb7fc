"""What the documents point at is there."""

from __future__ import annotations

import re

from tests.house.tree import files, name

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def test_every_link_and_picture_of_the_documents_leads_somewhere() -> None:
    missing = [
        f"{name(page)}: {target}"
        for page in files(".md")
        for target in LINK.findall(page.read_text())
        if not (page.parent / target).exists()
    ]
    assert missing == []
