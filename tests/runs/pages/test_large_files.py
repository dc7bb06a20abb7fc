"""A large file goes in and out of the real web server in bounded memory."""

from __future__ import annotations

import hashlib
import io
import tracemalloc

import httpx
import pytest
from django.urls import reverse

from accounts.ids import new_id
from accounts.models import TokenScope
from accounts.verbs.issue_token import issue_token
from runs.models import Artifact
from tests.make import runs as make
from tests.runs.pages.server import serving

pytestmark = pytest.mark.django_db(transaction=True)

MB = 1_000_000
#: Just under what a house takes by default.
SIZE = 45


def test_a_large_file_goes_in_and_out_without_filling_the_memory() -> None:
    house = make.house()
    run = house.counted()
    _, plain = issue_token(
        user_id=house.ada.pk,
        tenant_id=house.tenant.pk,
        name="test",
        scopes=[TokenScope.SUBMIT, TokenScope.READ],
    )
    line = b"The quick brown fox jumps over the lazy dog, and the contract renews itself.\n"
    content = (line * (MB // len(line) + 1))[:MB] * SIZE
    checksum = hashlib.sha256(content).hexdigest()
    headers = {"Authorization": f"Bearer {plain}", "Idempotency-Key": new_id().hex}
    with serving() as web, httpx.Client(base_url=web.origin, headers=headers, timeout=120) as client:
        # Whatever is loaded at the first request is loaded now.
        client.get(reverse("api:agents"))
        tracemalloc.start()
        try:
            kept = client.post(reverse("api:uploads"), files={"file": ("large.txt", io.BytesIO(content))})
            went_in = tracemalloc.get_traced_memory()[1]
            assert kept.status_code == 201, kept.text
            row = Artifact.everywhere.get(sha256=checksum)
            Artifact.everywhere.filter(pk=row.pk).update(run=run)
            tracemalloc.reset_peak()
            seen, size = hashlib.sha256(), 0
            with client.stream("GET", reverse("api:content", args=[run.pk, row.pk])) as answer:
                assert answer.status_code == 200
                for chunk in answer.iter_raw():
                    seen.update(chunk)
                    size += len(chunk)
            went_out = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert (size, seen.hexdigest()) == (SIZE * MB, checksum)
    # `content` was there before the counting began.
    assert went_in < 20 * MB
    assert went_out < 12 * MB
