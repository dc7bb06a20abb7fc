"""Real and hostile files that lie beside the checkout: each is read, or refused with the right code."""

from __future__ import annotations

import pytest

from runs.documents import Unreadable, read
from tests.needs import shared

REFUSED = {
    "messy/ExternalEntityInText.docx": "external_entity",
    "messy/SimpleMacro.docm": "macros",
    "messy/bug53475-password-is-pass.docx": "encrypted",
    "messy/crazyones-encrypted-256.pdf": "encrypted",
    "messy/r6-user-password.pdf": "encrypted",
    "messy/empty.pdf": "empty",
    "messy/needs_ocr.pdf": "scanned",
    "messy/skew.pdf": "scanned",
    "messy/malformed-from-issue-932.pdf": "scanned",
    "messy/truncated62886.docx": "corrupt",
    "messy/poc-xmlbomb.xlsx": "unsupported",
}
READ = {
    "messy/r3-empty-password.pdf": "encryption test",
    "messy/zen_of_python_corrupted.pdf": "Explicit is better",
    "messy/delins.docx": "",
    "contracts/03_service_verizon.pdf": "TRANSFER AND SERVICING AGREEMENT",
    "contracts/common-paper-CSA.md": "Cloud Service Agreement",
    "contracts/bonterms-professional-services-agreement.docx": "Governing Law\t",
    "contracts/common-paper-mutual-nda.docx": "MNDA Term",
}


@pytest.mark.parametrize(("name", "code"), sorted(REFUSED.items()))
def test_refused(name: str, code: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(shared(f"data/{name}"), name)
    assert caught.value.code == code


@pytest.mark.parametrize(("name", "words"), sorted(READ.items()))
def test_read(name: str, words: str) -> None:
    document = read(shared(f"data/{name}"), name)
    assert words in document.text
    for span in document.spans:
        assert 0 <= span.start <= span.end <= len(document.text)
